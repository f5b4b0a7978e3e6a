# Draws the areas from the link lines of the build: build/architecture.svg, which docs/architecture.svg repeats (the test
# docs.architecture compares them). An arrow points from an area to an area that it links. Arrows that follow from other
# arrows are left out, and so are those to core and os, which every area may include.

set(drawn "")  # every area but core and os
foreach(area IN LISTS CONVOKE_TRAIN CONVOKE_TOOLS ITEMS data_prep)
  if(NOT area MATCHES "^(core|os)$")
    list(APPEND drawn ${area})
  endif()
endforeach()

# links_<area>: the areas that it links directly; reach_<area>: all areas that it sees. No area sees itself.
foreach(area IN LISTS drawn ITEMS app)
  get_target_property(libraries convoke_${area} LINK_LIBRARIES)
  set(links_${area} "")
  foreach(other IN LISTS drawn)
    if(convoke_${other} IN_LIST libraries)
      list(APPEND links_${area} ${other})
    endif()
  endforeach()
endforeach()
function(reach area result)
  set(all ${links_${area}})
  foreach(other IN LISTS links_${area})
    reach(${other} further)
    list(APPEND all ${further})
  endforeach()
  list(REMOVE_DUPLICATES all)
  set(${result} ${all} PARENT_SCOPE)
endfunction()
foreach(area IN LISTS drawn ITEMS app)
  reach(${area} reach_${area})
endforeach()
foreach(area IN LISTS drawn ITEMS app)
  set(arrows_${area} ${links_${area}})
  foreach(other IN LISTS links_${area})
    if(reach_${other})
      list(REMOVE_ITEM arrows_${area} ${reach_${other}})
    endif()
  endforeach()
endforeach()

# depth_<area>: the row, counted from that of the program. An area is below every area that links it.
set(rows 0)
foreach(area IN LISTS drawn ITEMS app)
  set(depth_${area} 0)
endforeach()
foreach(pass RANGE 20)
  foreach(area IN LISTS drawn ITEMS app)
    math(EXPR below "${depth_${area}} + 1")
    foreach(other IN LISTS arrows_${area})
      if(depth_${other} LESS below)
        set(depth_${other} ${below})
      endif()
      if(rows LESS below)
        set(rows ${below})
      endif()
    endforeach()
  endforeach()
endforeach()

# Draws a box with the name and the content (ABOUT of convoke_area) of an area. "|" separates lines.
macro(box area name class x y width)
  math(EXPR middle "${x} + ${width} / 2")
  math(EXPR line "${y} + 18")
  string(APPEND boxes "  <rect class=\"${class}\" x=\"${x}\" y=\"${y}\" width=\"${width}\" height=\"54\" rx=\"5\"/>\n"
                      "  <text class=\"name\" x=\"${middle}\" y=\"${line}\">${name}</text>\n")
  get_target_property(about convoke_${area} CONVOKE_ABOUT)
  string(REPLACE "|" ";" about "${about}")
  foreach(text IN LISTS about)
    math(EXPR line "${line} + 14")
    string(APPEND boxes "  <text class=\"about\" x=\"${middle}\" y=\"${line}\">${text}</text>\n")
  endforeach()
  set(x_${area} ${middle})
  set(y_${area} ${y})
endmacro()

set(boxes "")
box(app "apps/convoke" app 20 40 1140 )
set(columns data_prep train tools)
set(left_data_prep 20)
set(width_data_prep 190)
set(left_train 230)
set(width_train 560)
set(left_tools 810)
set(width_tools 350)
set(areas_data_prep data_prep)
set(areas_train ${CONVOKE_TRAIN})
set(areas_tools ${CONVOKE_TOOLS})
foreach(column IN LISTS columns)
  foreach(row RANGE 1 ${rows})
    set(in_row "")
    foreach(area IN LISTS areas_${column})
      set(column_${area} ${column})
      if(depth_${area} EQUAL row AND area IN_LIST drawn)
        list(APPEND in_row ${area})
      endif()
    endforeach()
    list(LENGTH in_row count)
    if(count EQUAL 0)
      continue()
    endif()
    math(EXPR width "(${width_${column}} - 14 * (${count} - 1)) / ${count}")
    math(EXPR y "40 + 94 * ${row}")
    set(x ${left_${column}})
    foreach(area IN LISTS in_row)
      box(${area} ${area} ${column} ${x} ${y} ${width})
      math(EXPR x "${x} + ${width} + 14")
    endforeach()
  endforeach()
endforeach()
math(EXPR y "40 + 94 * (${rows} + 1)")
math(EXPR note "${y} - 10")
box(core "core" train 20 ${y} 1140)
math(EXPR y "${y} + 64")
box(os "os" train 20 ${y} 1140)
math(EXPR height "${y} + 74")

set(arrows "")
foreach(area IN LISTS drawn ITEMS app)
  foreach(other IN LISTS arrows_${area})
    math(EXPR from "${y_${area}} + 54")
    math(EXPR to "${y_${other}} - 5")
    math(EXPR bend "(${to} - ${from}) / 2")
    math(EXPR first "${from} + ${bend}")
    math(EXPR second "${to} - ${bend}")
    set(start ${x_${area}})
    if(area STREQUAL app)
      set(start ${x_${other}})
    endif()
    set(class "")
    if(NOT column_${area} STREQUAL "${column_${other}}")
      set(class " class=\"across\"")
    endif()
    string(APPEND arrows "  <path${class} d=\"M ${start} ${from} C ${start} ${first} ${x_${other}} ${second} ${x_${other}} ${to}\"/>\n")
  endforeach()
endforeach()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/architecture.svg @ONLY CONTENT
[[<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1180 @height@" font-family="sans-serif">
  <!-- Made from the build by cmake/Drawing.cmake; do not edit. -->
  <style>
    rect { stroke-width: 1.5; }
    .train { fill: #f2f6fb; stroke: #35516f; }
    .tools { fill: #eef7ee; stroke: #3d6b42; }
    .data_prep { fill: #f9f0f7; stroke: #7b3f70; }
    .app { fill: #fdf6ea; stroke: #8a6a2f; }
    path { fill: none; stroke: #8493a3; stroke-width: 1.3; marker-end: url(#head); }
    .across { stroke-dasharray: 5 3; }
    text { text-anchor: middle; fill: #1c2733; }
    .name { font-weight: bold; font-size: 15px; }
    .about { font-size: 11px; fill: #555; }
    .component { font-size: 13px; fill: #555; font-style: italic; }
  </style>
  <defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path
    d="M0 0 L8 4 L0 8 z" style="fill:#8493a3;stroke:none;marker-end:none"/></marker></defs>
  <rect width="1180" height="@height@" fill="white" stroke="none"/>
  <text class="component" x="115" y="24">Convoke::data_prep</text>
  <text class="component" x="510" y="24">Convoke::train</text>
  <text class="about" x="600" y="@note@">every area may include core and os</text>
  <text class="component" x="985" y="24">Convoke::tools</text>
@arrows@@boxes@</svg>
]])
