#include "interop/element_functions.hpp"

#include <array>

namespace convoke::interop {
namespace {

constexpr std::array kFunctions{
    ElementFunction{"abs", "Abs", "Absolute", "math.abs"},
    ElementFunction{"abs", "", "Abs", "abs"},
    ElementFunction{"ceil", "Ceil", "Ceil", "math.ceil"},
    ElementFunction{"cos", "Cos", "Cos", "math.cos"},
    ElementFunction{"divide", "Div", "TrueDivide", "math.truediv"},
    ElementFunction{"divide", "", "Divide", "math.divide"},
    ElementFunction{"divide", "Reciprocal", "Reciprocal", "math.reciprocal", {.before = 1}},
    ElementFunction{"equal", "Equal", "Equal", "math.equal", {.boolean = true}},
    ElementFunction{"equal", "Not", "LogicalNot", "math.logical_not", {.boolean = true, .after = 0}},
    ElementFunction{"erf", "Erf", "Erf", "math.erf"},
    ElementFunction{"exp", "Exp", "Exp", "math.exp"},
    ElementFunction{"floor", "Floor", "Floor", "math.floor"},
    ElementFunction{"greater", "Greater", "Greater", "math.greater", {.boolean = true}},
    ElementFunction{"greater", "Less", "Less", "math.less", {.boolean = true, .swapped = true}},
    ElementFunction{
        "greater_equal", "GreaterOrEqual", "GreaterEqual", "math.greater_equal", {.boolean = true}},
    ElementFunction{
        "greater_equal", "LessOrEqual", "LessEqual", "math.less_equal", {.boolean = true, .swapped = true}},
    ElementFunction{"log", "Log", "Log", "math.log"},
    ElementFunction{"maximum", "Max", "Maximum", "math.maximum"},
    ElementFunction{
        "maximum", "Or", "LogicalOr", "math.logical_or", {.boolean = true, .takes_booleans = true}},
    ElementFunction{"minimum", "Min", "Minimum", "math.minimum"},
    ElementFunction{
        "minimum", "And", "LogicalAnd", "math.logical_and", {.boolean = true, .takes_booleans = true}},
    ElementFunction{"power", "Pow", "Power", "math.pow"},
    ElementFunction{"power", "", "Rsqrt", "math.rsqrt", {.after = -0.5}},
    ElementFunction{"power", "", "Square", "math.square", {.after = 2}},
    ElementFunction{"round", "Round", "Round", "math.round"},
    ElementFunction{"sign", "Sign", "Sign", "math.sign"},
    ElementFunction{"sin", "Sin", "Sin", "math.sin"},
    ElementFunction{"sqrt", "Sqrt", "Sqrt", "math.sqrt"},
    ElementFunction{"subtract", "Sub", "Subtract", "math.subtract"},
    ElementFunction{"subtract", "", "Negative", "math.negative", {.before = 0}},
    ElementFunction{"where", "Where", "Where", "where"},
};

}  // namespace

std::span<const ElementFunction> element_functions() { return kFunctions; }

}  // namespace convoke::interop
