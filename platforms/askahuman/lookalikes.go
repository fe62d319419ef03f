package askahuman

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// lookalikes returns what letters look like, in a-z and 0-9, and these letters: those of confusables.txt of UTS #39
// (Unicode Security Mechanisms) that a name can have, unless a compatibility mapping, lower case or the removal of
// marks turns them into the same.
func lookalikes() [][2]string {
	return [][2]string{
		{"2", "ƨƻϩᒿꙅꝛ"},
		{"3", "ȝɜʒзҙӡⳍꝫ𑣊𖼻"},
		{"4", "ꮞ𑣏"},
		{"5", "𑣛"},
		{"6", "бⳓꮾ𑣕"},
		{"7", "𐓺𑣆"},
		{"8", "ȣ৪੪𐌚"},
		{"9", "৭੧୨൭ⳋꝯ𑣌𑣖"},
		{"a", "ɑαаᗅꓮꭺ𐊠𖽀"},
		{"aa", "ꜳ"},
		{"ae", "æӕ"},
		{"ao", "ꜵ"},
		{"au", "ꜷ"},
		{"av", "ꜹꜻ"},
		{"ay", "ꜽ"},
		{"b", "ƀƃƅɓβвьѣҍᏼᑲᑳᖯᗷᲀᲇꓐꞵꮟ𐊂𐊡𐌁"},
		{"bl", "ы"},
		{"c", "ȼсҫᲃᴄⲥꓚꮯ𐊢𐌂𐐽𐔜𑣩"},
		{"d", "ðđƌɖɗԁᑯᗞᗪꓒꓓꭰꮷ"},
		{"dz", "ʣ"},
		{"e", "ɇεеҽҿⴹꓰꬲꭼ𐊆𑣎"},
		{"f", "ƒϝքᖴᵮẝꓝꞙꬵ𐊇𐊥𐔥𑣂"},
		{"g", "ƍǥɠɡԍցᏻᶃꓖꮐ"},
		{"h", "ħɦнћңһӈӊհᏺᕼⱨⲏꓧꚕꮋꮒ𐋏"},
		{"i", "ıɨɩɪιіӏᵻᵼꙇꭵ𑣃"},
		{"j", "ɉʝϳјᒍꓙꭻ"},
		{"k", "ƙκкқҟᛕⱪⲕꓗꝁꮶ𐔘"},
		{"l", "łƚǀɫɭוןا١ٳ۱ߊᒪᛁⲓⳑⵏꓡꓲꮮ𐊊𐌉𐑃𐔦𑣒𖼖𖼨"},
		{"ll", "ǁװ"},
		{"lo", "ю"},
		{"ls", "ʪ"},
		{"lz", "ʫ"},
		{"m", "μϻмӎᗰᛖⲙꓟꮇ𐊰𐌑"},
		{"n", "ƞɲɳηոռᵰⲛꓠ𐔓"},
		{"o", "øɵθοσоѳөօסه٥ھہە۵ۿ߀०০੦૦ଠ୦௦౦೦ഠ൦๐໐တဝ၀ჿዐᲂᴏᴑⲟⴱⵁⵔꓳꝋꬽꬾꭴꮎꮻ𐊒𐊫𐐬𐓪𐔖𑓐𑣈𑣗𑣠"},
		{"oe", "œ"},
		{"oo", "ꚙꝏ"},
		{"p", "ƥρрᑭᵽⲣꓑꮲ𐊕"},
		{"q", "ʠԛգզⵕ"},
		{"r", "ɍɼɽʀгғᖇᴦᵲⲅꓣꭇꭈꭱꮁꮢ𐓜𖼵"},
		{"rn", "ɱᵯ𑜀𑣣"},
		{"s", "ƽʂѕտᵴꓢꜱꮥꮪ𐊖𐑈𑣁𖼺"},
		{"t", "ŧƭʈτтҭᲄᲅᵵⱦⲧꓔꭲ𐊗𐊱𐌕𖼊"},
		{"t3", "ꜩ"},
		{"tf", "ꝷ"},
		{"ts", "ʦ"},
		{"u", "ʉʋυսሀᑌᴜᵾꓴꞟꭎꭒꮜ𐓶𑣘𖽂"},
		{"ue", "ᵫ"},
		{"uo", "ꭣ"},
		{"v", "νѵט٧۷ᐯᴠⴸꓦꛟꮩ𐔝𑜆𑣀𖼈"},
		{"w", "ɯѡѽԝաᴡꓪꝡꮃꮤ𑓅𑜊𑜎𑜏𑣦"},
		{"x", "χхҳᕁᕽᚷⲭⵝꓫꭓ𐊐𐊴𐌗𐔧"},
		{"y", "ƴɏɣʏγуүұყᶌỿⲩꓬꭚꭹꮍ𐊲𑣜𖽃"},
		{"z", "ƶȥʐζᴢᵶꓜꮓ𑣄𑣉𑣥"},
		{"ss", "ß"},
	}
}

// isInvisible reports whether nothing is seen of a character, although it is a letter or a mark.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// skeletons makes skeletons of texts. Two texts with the same skeleton can be taken for each other.
type skeletons struct {
	table   map[rune]string
	letters *strings.Replacer
}

func newSkeletons() skeletons {
	table := map[rune]string{}
	for _, row := range lookalikes() {
		for _, letter := range row[1] {
			table[letter] = row[0]
		}
	}
	// A digit is read as the letter that it looks like, and letters that look alike are one.
	return skeletons{table, strings.NewReplacer("rn", "m", "vv", "w", "i", "l", "0", "o", "1", "l", "3", "e", "4", "a",
		"5", "s", "7", "t", "8", "b", "9", "g")}
}

// of is what a text looks like, without case, marks and what cannot be seen. Separators stay. It is not for showing.
func (s skeletons) of(text string) string {
	var folded strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(norm.NFKC.String(text))) {
		switch like, known := s.table[r]; {
		case unicode.Is(unicode.M, r) || isInvisible(r):
		case known:
			folded.WriteString(like)
		default:
			folded.WriteRune(r)
		}
	}
	return s.letters.Replace(folded.String())
}
