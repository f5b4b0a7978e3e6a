# Checks the pages of report_pages in headless Chromium, 390 and 1,280 pixels wide, light and dark: no error on the
# console, every picture loaded, every chart drawn with its data, no name of a bar cut, no element wider than the page,
# no request, no two series of a chart with the same style; all text has contrast AA, and scrolling regions have a name
# and are reachable by keyboard.
#   cmake -DPAGES=report_pages -DCHROMIUM=chromium -DFOLDER=<scratch folder> -P browser_test.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${PAGES} ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)

# Put first into the head of each page: collects errors, and sends them to the surrounding page when all is
# loaded.
set(probe [[<script>
const complaints = [];
const rgba = (text) => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return { r, g, b, a }; };
const over = (front, back) => ({ a: 1, ...Object.fromEntries(["r", "g", "b"].map((c) => [c, front[c] * front.a + back[c] * (1 - front.a)])) });
const backs = new Map();
const back_of = (element) => {
  if (!element) return { r: 255, g: 255, b: 255, a: 1 };
  if (!backs.has(element)) {
    const own = rgba(getComputedStyle(element).backgroundColor);
    backs.set(element, own.a === 1 ? own : over(own, back_of(element.parentElement)));
  }
  return backs.get(element);
};
const luminance = ({ r, g, b }) => [r, g, b].map((c) => c / 255).map((c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
const contrast = (element) => {
  const [dim, bright] = [luminance(rgba(getComputedStyle(element).color)), luminance(back_of(element))].sort((a, b) => a - b);
  return (bright + .05) / (dim + .05);
};
addEventListener("error", (event) => complaints.push(event.message || "cannot load " + event.target.tagName), true);
console.error = console.warn = (...words) => complaints.push(words.join(" "));
addEventListener("load", () => setTimeout(() => {
  for (const image of document.images) if (!image.complete || image.naturalWidth === 0) complaints.push("no picture: " + image.closest("figure").textContent);
  for (const canvas of document.querySelectorAll("canvas")) {
    const pixels = canvas.width * canvas.height > 0 ? canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data : [];
    let strong = false;
    for (let p = 0; p < pixels.length && !strong; p += 4) {
      const color = pixels.subarray(p, p + 3);
      strong = pixels[p + 3] > 0 && Math.max(...color) - Math.min(...color) > 60;
    }
    if (!strong) complaints.push("only axes: " + canvas.getAttribute("aria-label"));
    if (canvas.getBoundingClientRect().right > innerWidth) complaints.push("too wide: " + canvas.getAttribute("aria-label"));
  }
  const styles = new Map();  // a series has the same style in all charts, and no other series of a chart has it
  const drawings = JSON.parse(document.getElementById("drawings").textContent);
  Object.values(Chart.instances).forEach((chart, i) => {
    const seen = new Set(), { kind } = drawings[i], names = chart.scales.y;
    if (names.type === "category" && names._getLabelSizes().widest.width > names.width) complaints.push("names are cut: " + chart.canvas.getAttribute("aria-label"));
    for (const d of kind === "box" ? [] : chart.data.datasets) {
      const style = JSON.stringify([kind, d.borderColor, d.borderDash, d.backgroundColor, d.pointStyle, d.pointRotation, d.pointBackgroundColor]);
      if (seen.has(style) || style !== (styles.get(kind + d.label) ?? style)) complaints.push(`style of another series, or not the same in all charts: ${d.label}`);
      seen.add(style);
      styles.set(kind + d.label, style);
    }
  });
  for (const figure of document.querySelectorAll(".heat")) {
    const canvas = figure.querySelector("canvas"), status = figure.querySelector(".cell"), seen = () => canvas.toDataURL();
    const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
    if (canvas.tabIndex !== 0 || !canvas.getAttribute("aria-label")) complaints.push("heat map without a name, or not reachable by keyboard");
    const all = seen();
    press("ArrowRight");
    press("ArrowDown");
    if (!status.textContent.includes(": ")) complaints.push("the cursor of a heat map has no text: " + status.textContent);
    const here = seen(), text = status.textContent;
    press("n");
    if (status.textContent === text) complaints.push("N does not move the cursor of a heat map");
    press("+");
    if (here === all || seen() === here) complaints.push("the keys of a heat map change nothing");
    figure.querySelector("[data-zoom=all]").click();
  }
  for (const region of document.querySelectorAll(".scroll, pre")) {
    if (region.tabIndex !== 0 || !region.getAttribute("aria-label")) complaints.push("no name, or not reachable by keyboard: " + region.textContent.slice(0, 20));
  }
  for (const element of document.body.querySelectorAll("*")) {
    const speaks = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (speaks && !["SCRIPT", "STYLE"].includes(element.tagName) && contrast(element) < 4.5) {
      complaints.push(`contrast ${contrast(element).toFixed(2)}: ${element.textContent.slice(0, 20)}`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) complaints.push(`${document.documentElement.scrollWidth} pixels wide`);
  for (const fetched of performance.getEntriesByType("resource")) if (!fetched.name.startsWith("data:")) complaints.push("fetches " + fetched.name);
  const back = getComputedStyle(document.body).backgroundColor;
  parent.postMessage(`verdict width ${innerWidth} charts ${document.querySelectorAll("canvas").length} pictures ${document.images.length} back ${back} complaints [${complaints.join("; ")}]`, "*");
}, 500));
</script>]])

set(pages images texts table signals charts one votes begun birds comparison study)
foreach(name IN LISTS pages)
  file(READ ${FOLDER}/${name}.html page)
  string(REPLACE "<head>" "<head>${probe}" page "${page}")
  file(WRITE ${FOLDER}/${name}-probed.html "${page}")
endforeach()

# Each page is looked at light and dark, in one scheme narrow and in the other wide; colors do not depend on the width. For a
# scheme, one page holds a frame for each page: a start of the browser takes longer than looking at all of them. Chromium's
# window is at least 500 pixels wide; a frame is as wide as it is told. They lie one upon another, since what is out of sight
# is not drawn.
set(failed "")
foreach(scheme light dark)
  set(dark "")
  set(back "rgb\\(255, 255, 255\\)")
  set(widths 1280 390)
  if(scheme STREQUAL "dark")  # unquoted it would be the variable
    set(dark --force-dark-mode)
    set(back "rgb\\(18, 22, 28\\)")
    set(widths 390 1280)
  endif()
  set(frames "")
  foreach(name IN LISTS pages)
    list(REVERSE widths)
    list(GET widths 0 width_of_${name})
    string(APPEND frames
      "<iframe name='${name} at ${width_of_${name}}' src='${name}-probed.html' width=${width_of_${name}} height=900></iframe>\n")
  endforeach()
  file(WRITE ${FOLDER}/frames.html "<!DOCTYPE html><meta charset=utf-8>
<style>iframe { position: absolute; top: 0; left: 0 }</style><div id=told></div>
<script>addEventListener('message', (event) => {
  const frame = [...document.querySelectorAll('iframe')].find((each) => each.contentWindow === event.source);
  const line = document.createElement('p');
  line.textContent = frame.name + ': ' + event.data;
  document.getElementById('told').append(line);
});</script>
${frames}")
  execute_process(
    COMMAND ${CHROMIUM} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=${FOLDER}/profile
            --virtual-time-budget=5000 --window-size=1400,1000 --enable-logging=stderr ${dark}
            --dump-dom file://${FOLDER}/frames.html
    OUTPUT_VARIABLE seen ERROR_VARIABLE log RESULT_VARIABLE code TIMEOUT 120)
  foreach(name IN LISTS pages)
    set(width ${width_of_${name}})
    string(REGEX MATCH "${name} at ${width}: verdict[^\n]*complaints \\[[^\n]*\\]</p>" verdict "${seen}")
    string(REGEX REPLACE "</p>.*" "" verdict "${verdict}")
    message(STATUS "${scheme}, ${verdict}")
    if(NOT verdict MATCHES "width ${width} charts [1-9][0-9]* pictures [0-9]+ back ${back} complaints \\[\\]")
      string(APPEND failed "${name} at ${width} pixels, ${scheme}: ${verdict} (exit ${code})\n")
    endif()
    if(name MATCHES "^(images|votes)$" AND NOT verdict MATCHES "pictures [1-9]")
      string(APPEND failed "${name}: no pictures\n")
    endif()
  endforeach()
  string(REGEX MATCH "[^\n]*CONSOLE[^\n]*" console "${log}")
  if(console)
    string(APPEND failed "${scheme}: ${console}\n")
  endif()
endforeach()
file(REMOVE_RECURSE ${FOLDER}/profile)
if(failed)
  message(FATAL_ERROR "${failed}")
endif()
