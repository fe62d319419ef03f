package rubric

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// symbols are the numbers, words, operators and ends of a text that computes.
var symbols = regexp.MustCompile(`\d+(?:[.,]\d+)*|[\p{L}']+|[=≈+−–\-×*·⋅/÷%,.;:!?()\n]`)

// symbol is one of them. An operator has one of "+-*/%", an equals sign "=", and what ends a computation ".".
type symbol struct {
	text     string
	from, to int
	does     byte
	value    float64 // of a number, whose does is '#'
	decimals int
}

// operators are what words and signs compute.
var operators = map[string]byte{
	"+": '+', "plus": '+', "-": '-', "−": '-', "–": '-', "minus": '-', "less": '-', "×": '*', "x": '*', "*": '*',
	"·": '*', "⋅": '*', "times": '*', "multiplied": '*', "/": '/', "÷": '/', "divided": '/', "=": '=', "≈": '=',
	".": '.', ";": '.', "!": '.', "?": '.', "\n": '.', ":": '.', "(": '.', ")": '.', "%": '%', "percent": '%',
	",": ',',
}

// symbolsOf reads a text.
func symbolsOf(text string) (all []symbol) {
	for _, at := range symbols.FindAllStringIndex(text, -1) {
		s := symbol{text: strings.ToLower(text[at[0]:at[1]]), from: at[0], to: at[1]}
		if s.text[0] >= '0' && s.text[0] <= '9' {
			plain := strings.ReplaceAll(s.text, ",", "")
			value, err := strconv.ParseFloat(plain, 64)
			if err != nil {
				continue
			}
			_, decimals, _ := strings.Cut(plain, ".")
			s.does, s.value, s.decimals = '#', value, len(decimals)
		} else {
			s.does = operators[s.text]
		}
		if last := len(all) - 1; s.text == "cent" && last >= 0 && all[last].text == "per" {
			all = all[:last]
			s.does = '%'
		}
		all = append(all, s)
	}
	return withoutBrackets(all)
}

// withoutBrackets computes what stands in brackets beside an operator, such as "(13 − 2.3) × 24".
func withoutBrackets(read []symbol) (all []symbol) {
	isOperator := func(i int) bool {
		return i >= 0 && i < len(read) && strings.IndexByte("+-*/", read[i].does) >= 0
	}
	for i := 0; i < len(read); i++ {
		if read[i].text == "(" && i+1 < len(read) && read[i+1].does == '#' {
			inner, end := computation(read, i+1)
			if inner.terms > 1 && !inner.isSoft && end < len(read) && read[end].text == ")" &&
				(isOperator(i-1) || isOperator(end+1)) {
				all = append(all, symbol{from: read[i].from, to: read[end].to, does: '#', value: inner.value})
				i = end
				continue
			}
		}
		all = append(all, read[i])
	}
	return all
}

// equation is a computation with what the text says that it gives.
type equation struct {
	from, to int
	// given is what the text says, and value what comes out.
	given, value float64
	isRight      bool
}

// reach is how many words may stand within a computation, from a number to its operator and back.
const reach = 4

// equations returns the computations of a text: "a op b = c", in signs or in words. One that could be meant otherwise,
// such as "15 hours at 85 euros are 1,275", counts if it comes out, and is no miss if it does not.
func equations(text string) (all []equation) {
	read := symbolsOf(text)
	for i := 0; i < len(read); i++ {
		if read[i].does != '#' {
			continue
		}
		left, end := computation(read, i)
		if left.terms < 2 || math.IsInf(left.value, 0) || math.IsNaN(left.value) {
			continue
		}
		at, isSign, isLoose := result(read, end)
		if at < 0 {
			i = end - 1
			continue
		}
		given := read[at]
		isPercent := at+1 < len(read) && read[at+1].does == '%'
		isBound := bounding[read[at-1].text]
		isHard := left.isShare && isPercent && !isLoose
		isSoft := isBound || !isHard && (left.isSoft || isLoose || left.isTight && !isSign)
		e := equation{from: read[i].from, to: given.to, given: given.value, value: left.value}
		e.isRight = left.gives(given, isPercent, isSoft)
		if right, _ := computation(read, at); right.terms > 1 && !right.isSoft {
			e.isRight = e.isRight || math.Abs(right.value-left.value) <= 0.01*math.Abs(left.value)
		}
		if most, ok := rangeEnd(read, at); ok {
			e.isRight = e.isRight || e.given <= 1.01*e.value && 0.99*e.value <= most
		}
		// What is near may have been rounded on the way.
		rounding := 0.01
		if rounded[read[at-1].text] {
			rounding = 0.05
		}
		if e.isRight || !isSoft && math.Abs(e.given-e.value) > rounding*math.Abs(e.value) {
			all = append(all, e)
		}
		i = at - 1
	}
	return all
}

// rangeEnd returns the end of a range that begins with a number, such as "400 to 500" or "between 400 and 500".
func rangeEnd(read []symbol, at int) (most float64, ok bool) {
	if at+2 >= len(read) || read[at+2].does != '#' {
		return 0, false
	}
	between := read[at-1].text == "between" && read[at+1].text == "and"
	return read[at+2].value, between || read[at+1].text == "to" || read[at+1].does == '-'
}

// gives reports whether the value comes out as a text says, also as a percentage or in another unit.
func (c computed) gives(given symbol, isPercent, isSoft bool) bool {
	scales := []float64{1}
	if isPercent {
		scales = append(scales, 100)
	}
	if c.mayScale {
		scales = append(scales, 1000, 0.001, 100, 0.01)
	}
	if isSoft {
		scales = append(scales, -1)
	}
	return slices.ContainsFunc(scales, func(scale float64) bool { return comes(scale*c.value, given) })
}

// comes reports whether a value is what a text says, rounded or to half a per cent.
func comes(value float64, said symbol) bool {
	gap := math.Abs(value - said.value)
	if gap <= 0.5001*math.Pow10(-said.decimals) || gap <= 0.005*math.Abs(value) {
		return true
	}
	// Whole ones are rounded up or down, and round ones to their tens.
	return said.decimals == 0 && (value >= 10 && gap < 1 ||
		math.Mod(said.value, 10) == 0 && gap <= 0.02*math.Abs(value))
}

// computed is the value of a computation.
type computed struct {
	value float64
	terms int
	// isSoft says that it may be meant otherwise, isTight that a hyphen or a slash in it may be none, and mayScale that
	// its units may change with its result.
	isSoft, isTight, mayScale bool
	// isShare says that it is "a of b".
	isShare bool
}

// computation reads "a op b op c" from a number on, and where it ends.
func computation(read []symbol, at int) (c computed, end int) {
	values, ops := []float64{read[at].value}, []byte{}
	end = at + 1
	for len(values) < maxNumbers {
		op, next, soft, tight := operator(read, end)
		if next < 0 {
			break
		}
		c.isSoft, c.isTight = c.isSoft || soft, c.isTight || tight
		values, ops = append(values, read[next].value), append(ops, op)
		end = next + 1
	}
	c.terms = len(values)
	c.isShare = c.terms == 2 && ops[0] == '/' && c.isSoft && read[end-2].text != "by"
	c.mayScale = slices.Contains(ops, '*') || slices.Contains(ops, '/')
	// A product comes before a sum.
	sums, signs := values[:1:1], []byte{}
	for i, op := range ops {
		last := len(sums) - 1
		switch v := values[i+1]; op {
		case '*':
			sums[last] *= v
		case '/':
			sums[last] /= v
		case '%':
			sums[last] *= v / 100
		case 'p': // "plus 5 per cent"
			sums[last] *= 1 + v/100
		case 'm':
			sums[last] *= 1 - v/100
		default:
			sums, signs = append(sums, v), append(signs, op)
		}
	}
	c.value = sums[0]
	for i, op := range signs {
		if op == '-' {
			c.value -= sums[i+1]
		} else {
			c.value += sums[i+1]
		}
	}
	return c, end
}

// operator finds the next operator and the number behind it. next is -1 if none follows.
func operator(read []symbol, at int) (op byte, next int, soft, tight bool) {
	words := 0
	for i := at; i < len(read) && words <= reach; i++ {
		s := read[i]
		switch {
		case s.does == '#', s.does == '.', s.does == '=', s.does == ',', equals[stem(s.text)]:
			return 0, -1, false, false
		case s.does == '%':
			// "12 % of 240"
			if i+1 < len(read) && read[i+1].text == "of" {
				if n := numberNear(read, i+2); n >= 0 {
					return '%', n, false, false
				}
			}
			return 0, -1, false, false
		case s.does != 0:
			from := i + 1
			if from < len(read) && read[from].text == "by" {
				from++
			}
			n := numberNear(read, from)
			if n < 0 || s.text == "less" && read[i+1].text == "than" {
				return 0, -1, false, false
			}
			tight = (s.does == '-' || s.does == '/') && i == at && read[i-1].to == s.from && s.to == read[n].from
			if isPercentage := n+1 < len(read) && read[n+1].does == '%'; isPercentage && s.does == '+' {
				return 'p', n, true, false
			} else if isPercentage && s.does == '-' {
				return 'm', n, true, false
			}
			return s.does, n, false, tight
		case s.text == "at" || s.text == "by" || s.text == "each" || s.text == "and" || s.text == "to":
			n := numberNear(read, i+1)
			if n < 0 {
				words++
				continue
			}
			op := map[string]byte{"at": '*', "by": '/', "each": '*', "and": '+', "to": '-'}[s.text]
			return op, n, true, false
		case s.text == "of":
			if n := numberNear(read, i+1); n >= 0 {
				return '/', n, true, false
			}
			words++
		default:
			words++
		}
	}
	return 0, -1, false, false
}

// numberNear returns where the number stands that begins here, behind few words, or -1.
func numberNear(read []symbol, at int) int {
	for i := at; i < min(len(read), at+reach); i++ {
		if read[i].does == '#' {
			return i
		}
		if read[i].does != 0 || equals[stem(read[i].text)] {
			return -1
		}
	}
	return -1
}

// result finds what the text says that a computation gives, or -1, whether an equals sign says it, and whether that is
// loosely said.
func result(read []symbol, at int) (given int, isSign, isLoose bool) {
	said := false
	for i, words := at, 0; i < len(read) && words <= 5; i++ {
		s := read[i]
		switch {
		case s.does == '#' && said:
			return i, isSign, isLoose
		case s.does == '#':
			return -1, false, false
		case s.does == '=':
			said, isSign = true, true
		case equals[stem(s.text)]:
			said = true
		case s.text == "and":
			return -1, false, false
		case s.does == ',' || s.text == "so" || s.text == "or":
			isLoose, said = isLoose || !said, true
		case s.does == '%':
		case s.does != 0:
			return -1, false, false
		case !vague[s.text]:
			words++
			isLoose = isLoose || said && !isSign
			if said && words > 2 {
				return -1, false, false
			}
		}
	}
	return -1, false, false
}

// compute returns the value of an expression with "+", "-", "*", "/" and brackets, and whether it is one.
func compute(expression string) (value float64, ok bool) {
	rest := strings.ReplaceAll(expression, " ", "")
	value, rest, ok = sum(rest)
	return value, ok && rest == "" && !math.IsInf(value, 0) && !math.IsNaN(value)
}

func sum(text string) (value float64, rest string, ok bool) {
	value, rest, ok = product(text)
	for ok && rest != "" && (rest[0] == '+' || rest[0] == '-') {
		var next float64
		op := rest[0]
		if next, rest, ok = product(rest[1:]); op == '-' {
			next = -next
		}
		value += next
	}
	return value, rest, ok
}

func product(text string) (value float64, rest string, ok bool) {
	value, rest, ok = factor(text)
	for ok && rest != "" && (rest[0] == '*' || rest[0] == '/') {
		var next float64
		op := rest[0]
		if next, rest, ok = factor(rest[1:]); op == '/' {
			next = 1 / next
		}
		value *= next
	}
	return value, rest, ok
}

func factor(text string) (value float64, rest string, ok bool) {
	if inner, isInner := strings.CutPrefix(text, "("); isInner {
		value, rest, ok = sum(inner)
		rest, isInner = strings.CutPrefix(rest, ")")
		return value, rest, ok && isInner
	}
	end := 0
	for end < len(text) && (text[end] == '.' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	value, err := strconv.ParseFloat(text[:end], 64)
	return value, text[end:], err == nil
}
