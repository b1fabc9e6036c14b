"""The changes that a mutant makes to one line of C++, found by its text alone.

A change that does not compile costs a build and tells nothing, so declarations, templates and names of types are left
alone if the line shows them. Comments, strings and directives are never changed.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    line: int    # from 1
    begin: int   # columns of that line
    end: int
    text: str    # what replaces it
    what: str    # "&& -> ||"

    def apply(self, source):
        lines = source.split("\n")
        line = lines[self.line - 1]
        lines[self.line - 1] = line[:self.begin] + self.text + line[self.end:]
        return "\n".join(lines)


# An operator between spaces, as clang-format leaves it: no template, no reference and no pointer has both.
OPERATORS = {
    "<=": ("<", ">"), ">=": (">", "<"), "<": ("<=", ">="), ">": (">=", "<="), "==": ("!=",), "!=": ("==",),
    "&&": ("||",), "||": ("&&",), "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("/",),
    "&": ("|",), "|": ("&",), "^": ("|",), "<<": (">>",), ">>": ("<<",),
    "+=": ("-=",), "-=": ("+=",), "|=": ("&=",), "&=": ("|=",), "^=": ("|=",), "*=": ("/=",), "/=": ("*=",),
}
OPERATOR = re.compile(r"(?<= )(" + "|".join(sorted(map(re.escape, OPERATORS), key=len, reverse=True)) + r")(?= |$)")
WORDS = {"true": "false", "false": "true", "min": "max", "max": "min", "all_of": "any_of", "any_of": "all_of",
         "break": "continue", "continue": "break", "first": "last", "last": "first"}
WORD = re.compile(r"\b(?:true|false|break|continue)\b|(?<=std::)(?:min|max)(?=[(<])|"
                  r"(?<=ranges::)(?:all_of|any_of)(?=\()|(?<=\.)(?:first|last)(?=\()")
STEP = re.compile(r"\+\+(?=\w)|--(?=\w)|(?<=\w)\+\+|(?<=\w)--")
NUMBER = re.compile(r"(?<![\w.'\"])(0x[0-9A-Fa-f']+|\d[\d']*)(?=[uUlL]*\b)(?![.'\w]*[.'eE])")
CONDITION = re.compile(r"\b(?:if|while) (?:constexpr )?\((.*)\)(?= \{$| return| continue| break| throw|$| \w)")
CALL = re.compile(r"\b\w+\(([^(),<>{}\"]+), ([^(),<>{}\"]+)\)")
CHOICE = re.compile(r"\? ([^?:]+) : ([^?:;]+?)(?=[;)])")
STATEMENT = re.compile(r"(?:if \(.*\) )?[\w.:>\-\[\]*]+(?:\(.*\)|(?: [-+|&*/^]?= .+)|\+\+|--);$|(?:\+\+|--)[\w.>\-]+;$|"
                       r"if \(.*\) (?:return|continue|break|throw)\b.*;$|(?:return|continue|break);$")
# Lines that declare things, or that the compiler itself checks.
TYPES = re.compile(r"#|(?:using|namespace|template|static_assert|class|struct|enum|friend|extern|typedef|requires|"
                   r"concept|switch|virtual|explicit)\b|(?:public|private|protected|default):|case\b|\[\[|.*\boperator\b")
FUNCTION = re.compile(r"(?:[\w:<>,*&]+ )+[*&]?\w+\([^;]*\)(?: const)?(?: noexcept)?(?: override)?"
                      r"(?: = (?:default|delete|0))?(?:;| \{\}?)$")
CONTROL = re.compile(r"(?:\} )?(?:else )?(?:if|while|for|return|throw|do)\b")


def blanked(source):
    """The source with comments, strings and characters as spaces, of the same length."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'',
                         re.DOTALL)

    def hide(match):
        quote = match[0][0] in "\"'R"
        inside = re.sub(r"[^\n]", " ", match[0])
        return '"' + inside[2:] + '"' if quote and len(inside) > 1 else inside
    return pattern.sub(hide, source)


def other_numbers(word):
    form = "#x" if word.startswith("0x") else "04o" if len(word) > 1 and word[0] == "0" else "d"
    value = int(word.replace("'", ""), {"#x": 16, "04o": 8, "d": 10}[form])
    for other in (value + 1, value - 1):
        if other >= 0:
            yield format(other, form)


def is_declaration(line):
    return bool(TYPES.match(line) or (FUNCTION.match(line) and not CONTROL.match(line)))


def mutants_of(source):
    """Every mutant of a source, line by line. The mutants of one line always come in the same order."""
    lines = source.split("\n")
    depth = 0  # of parentheses: a line within those of an earlier line is not a statement of its own
    before = ";"
    for number, shown in enumerate(blanked(source).split("\n"), 1):
        line = shown.strip()
        if line:
            if not is_declaration(line):
                yield from of_line(number, shown, lines[number - 1], depth == 0 and before[-1] in ";{}:)")
            depth += line.count("(") - line.count(")")
            before = line


def of_line(number, shown, real, begins_here):
    def mutant(begin, end, text, what=None):
        return Mutant(number, begin, end, text, what or f"{real[begin:end]} -> {text}")

    for match in OPERATOR.finditer(shown):
        if match[0] == "+" and re.search(r'^ ?"|^$', shown[match.end():]) or shown[:match.start()].endswith('" '):
            continue  # of texts
        for other in OPERATORS[match[0]]:
            yield mutant(*match.span(), other)
    for match in WORD.finditer(shown):
        yield mutant(*match.span(), WORDS[match[0]])
    for match in STEP.finditer(shown):
        yield mutant(*match.span(), "--" if match[0] == "++" else "++")
    for match in NUMBER.finditer(shown):
        for other in other_numbers(match[0]):
            yield mutant(*match.span(), other)
    for match in CONDITION.finditer(shown):
        text = real[match.start(1):match.end(1)]
        if text.count("(") == text.count(")") and ";" not in text:
            yield mutant(*match.span(1), f"!({text})", "condition negated")
    for match in CALL.finditer(shown):
        one, other = real[match.start(1):match.end(1)], real[match.start(2):match.end(2)]
        if one != other:
            yield mutant(match.start(1), match.end(2), f"{other}, {one}", "arguments swapped")
    for match in CHOICE.finditer(shown):
        one, other = real[match.start(1):match.end(1)], real[match.start(2):match.end(2)]
        if one.count("(") == one.count(")") and other.count("(") == other.count(")"):
            yield mutant(match.start(1), match.end(2), f"{other} : {one}", "choices swapped")
    line = shown.strip()
    if begins_here and STATEMENT.match(line) and line.count("(") == line.count(")"):
        begin = shown.index(line)
        yield mutant(begin, begin + len(line), ";", "statement deleted")
