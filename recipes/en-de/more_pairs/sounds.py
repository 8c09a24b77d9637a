"""Makes up names: syllables as languages build them, compounds like German and English family names, and
parts of known names in new combinations. They teach copying token by token."""
import re

from more_pairs.draw import Draw

# First letters, vowels, last letters of a syllable (- for none), endings; minimum and maximum number of syllables
# before the ending.
KINDS = {
    "slavic": (
        "b br c cz ch d dr dz g gr h hr j k kr kh l m ml n p pr r rz s sl sk st sv sz shch t tr "
        "v vl vs w y z zb zd zh zv",
        "a e i o u o e a ia ie ya yu",
        "- - n r l k zh sz cz j",
        "ov ova ev eva ski ska sky ich icz ek ak enko uk yn in ina slav mira mir dan ko cki czyk "
        "wicz ka vsky dzic osz iej",
        (1, 2)),
    "nordic": (
        "b br d f fj g gj gr h hj j k kj kn kr kv l m n r s sk sj skj st sv t th tr v",
        "a e i o u ö ä y ei au aa ø",
        "- nd ld rn lv gn lf rg ng ss tt ll",
        "sson sen dottir strand lund vik mark dal gaard quist berg ström nes holm a e stad rud "
        "mo land by borg",
        (1, 1)),
    "iberian": (
        "b c ch d f fr g gu h j l ll m n p qu r rr s t tr v y z cl gr",
        "a e i o u ia ie ue ua",
        "- - n r s l z",
        "ez es ado ero illo illa ita ito ano ana al ar eda uela oz eta arra io ia ales eira inho "
        "ães goitia iaga mendi",
        (1, 2)),
    "african": (
        "b ch d f g gb h j k kp kw l m mb mp mw n nd ng nj nk ny nt nz p r s sh t th ts tsh w y "
        "z zw sw",
        "a e i o u a o",
        "- - - - m n",
        "we le la di ka mba nda ziwe ani olu ele wande bola dele kunle eze chi ola gwu andla ama "
        "uwa isi ombe anga",
        (1, 3)),
    "indian": (
        "b bh ch d dh g gh h j jh k kh l m n p ph pr r s sh shr t th tr v y",
        "a a a i u aa ee oo e o",
        "- - - n r l sh t nd nk j d kk",
        "an ar am esh endra ika ini ani erjee swamy nathan appa pal deep wala jit aram puri "
        "eshwar ayan indra alli wati adhyay",
        (1, 2)),
    "japanese": (
        "k s t n h m y r w g z d b j sh ch ts ky ry f",
        "a i u e o",
        "- - - - n",
        "moto mura yama kawa gawa da no ko ro ta shi guchi saki zaki be hara shima mi ki yo ji "
        "suke ya na ka",
        (1, 2)),
    "chinese": (
        "b p m f d t n l g k h j q x zh ch sh r z c s y w",
        "a ai an ang ao e en eng i ia ian iang iao ie in ing iong iu o ong ou u ua uai uan ui un "
        "uo",
        "-",
        "-",
        (1, 3)),
    "american": (
        "c ch cu h hu k l ll m n p qu t tl tz x y ch'",
        "a e i o u a i",
        "- - - c l n tz x h",
        "tl tzin co pan huac calli pampa marca bamba cocha huasi tepec huitl nal ru qui lli can "
        "itza el",
        (1, 2)),
    "arabic": (
        "b d dh f gh h j k kh l m n q r s sh t th w y z",
        "a a i u aa ee ou ai",
        "- - b d f h k l m n q r sh bb mm ss dd",
        "a i een ad ir im ani awi oun ouri allah iya an ieh am ash ur",
        (1, 2)),
    "turkish": (
        "b d f g h k l m n p s t y z c",
        "a e i o u ö ü",
        "- - r l n k t m z",
        "er gül can soy han türk tekin oglu kan han du dal man eren bay",
        (1, 2)),
    "greek": (
        "ps x th kh st str d k kl l m n p ph r s t v z sp g",
        "a e i o ou io ia eu",
        "- - n r s l",
        "opoulos akis idis iadis ellis as os is ou eas antis ikos atos ene eia",
        (1, 2)),
    "finnish": (
        "h j k l m n p r s t v",
        "a e i o u ä ö y aa ii uu ai ei au uo ie yö ää",
        "- - kk tt pp nn ll ss r n l",
        "nen la lä inen ainen järvi mäki lahti niemi koski ri o us a ki vaara",
        (1, 2)),
    "hungarian": (
        "b cs d f gy h j k l m n p r s sz t v z zs",
        "a á e é i o ó ö u ü",
        "- - ll rk nd s sz k",
        "ffy i y szky ányi esi ai or ely as os ka",
        (1, 2)),
    "georgian": (
        "b d dz g gv j k kv kh l m mch n p r s sh t ts tsk v z zh gh",
        "a e i o u",
        "- - r n v l",
        "shvili adze idze uri ava ia yan ian eli dzh",
        (1, 2)),
    "vietnamese": (
        "b c ch d g gi h kh l m n ng ngh nh ph qu s t th tr v x",
        "a ai an ang anh ao e en i ich iem ien ieu inh o oa oan on ong u ua ung uoc uong uy uyen "
        "uyet",
        "-",
        "-",
        (1, 2)),
    "welsh": (
        "b br c d dd f ff g gl gw gwyn h l ll m n p pr r rh t tr",
        "a e i o u w y ae ei",
        "- - n r th dd ll",
        "wyn wen fryn an eth ys ydd og las ed wyn",
        (1, 2)),
    "french": (
        "b bl br c ch d f fl g gr j l m n p pl qu r s t tr v",
        "a e i o u ai au eu oi ou é è ie",
        "- - n r l s ll nn",
        "eau ault ette ine ard ier ois and elle oux et in ac ieux court mont ville",
        (1, 2)),
    "italian": (
        "b c ch d f g gh gl gn l m n p r s sc sp st t tr v z",
        "a e i o u ia io",
        "- - n r l cc tt ll zz pp ss",
        "i elli etti ini one ucci ano aro ola ieri azzo essa ina o a",
        (1, 2)),
}
KINDS = {kind: (*([part.replace("-", "") for part in text.split()] for text in parts), count)
         for kind, (*parts, count) in KINDS.items()}

# Compounds begin like real words, and must not be taken for them.
GERMAN_FIRST = ("Gott Fried Sieg Wald Edel Brunn Roth Adel Heim Lieb Ehren Hilde Trau Ger Wern "
                "Diet Arn Bern Eck Land Burg Run Rein Wolf Engel Hart Kuni Mark Ort Rat Thal "
                "Volk Wil Win Am Irm Oda Ulf").split()
GERMAN_NAME = ("fried brand bert gund gunde hild hilde wig trud lind linde mut hard wald rich "
               "lieb helm mar run bald win wart traud olf gard brecht bod gar hold").split()
GERMAN_PLACE = ("Apfel Birken Brand Buchen Dorn Eber Eich Erlen Falken Finster Fuchs Gras Grün "
                "Hasel Hirsch Hohen Holz Kalten Kirch Kessel Kupfer Lauter Linden Mühl Nieder "
                "Ober Oster Pfaffen Quell Ross Rosen Sauer Schell Schön Schwarz Stein Stoll "
                "Tauben Teufels Uhlen Unter Vogel Wacholder Wester Wieden Wild Wiesen Winter "
                "Zell Ziegel Kühn Pött Hüls Böck Köp Düster Hessel Rauen Kloster "
                "Messing Nessel Knob Stratt").split()
GERMAN_LAST = ("bach hausen meyer kamp ring brunn stedt müller becker büttel bauer hövel loh "
               "rode dorf berger mann eder huber wald hoff winkel au burg feld moor siek horst "
               "beck städt holz egg stätter gohl brock mühl kötter hagen furt fleth "
               "münde wede leben kirchen").split()
ENGLISH_FIRST = ("Thistle Bram Hather Stone Ash Hazel Winter Marl Copper Crane Elder Fern Gold "
                 "Hob Ivy Kettle Lark Moss Nettle Oak Pine Quill Rook Shep Thorn Under Wake "
                 "Wether Whistle Barn Bran Bart Chat Cress Dun East Fal Gren Hay Hind Kirk Lang "
                 "Mel Over Pem Rad Sand Shel Tarr Up Wal Wood Wren Spindle Tattle Candle Bramble "
                 "Grim Huckle Pad Hart Buckle Saddle Kin Cock Apple Winkle Little Good Fair "
                 "Swift Bottle Silver").split()
ENGLISH_LAST = ("wick worth ton ham croft thwaite shire ley combe bury stone well mere hurst "
                "field ford side more low gate den dale brook bottom by ridge water shaw "
                "wright smith man tree house wood mouth chester wich sby").split()

# Makes every letter of Latin alphabets occur in copied words now and then.
ACCENTED = {"a": "áàâãåāăąæ", "c": "ćčç", "d": "ďđð", "e": "éèêëēęě", "g": "ğģ", "h": "ħ",
            "i": "íìîïīı", "k": "ķ", "l": "łľļ", "n": "ñńňņ", "o": "óòôõøōőœ", "r": "řŕ",
            "s": "śşšș", "t": "ťțþ", "u": "úùûūůűų", "y": "ýÿ", "z": "źžż", "C": "ÇČĆ", "D": "ĐĎ",
            "G": "Ğ", "K": "Ķ", "L": "Ł", "N": "Ñ", "R": "Ř", "S": "ŚŞŠ", "T": "ŤÞ", "Z": "ŹŽŻ"}


def syllables(draw: Draw) -> str:
    """Returns a name as one language would build it."""
    first, vowels, last, ends, (least, most) = KINDS[draw.pick(sorted(KINDS))]
    name = "".join((draw.pick(first) if at or draw.percent(85) else "")
                   + draw.pick(vowels) + draw.pick(last) for at in range(draw.between(least, most)))
    end = draw.pick(ends)
    # A vowel before an ending that begins with one would be pronounced differently.
    return re.sub(r"[aeiou]$", "", name) + end if end[:1] in tuple("aeiou") else name + end


def compound(draw: Draw) -> str:
    first, last = draw.pick([(GERMAN_FIRST, GERMAN_NAME), (GERMAN_PLACE, GERMAN_LAST),
                             (ENGLISH_FIRST, ENGLISH_LAST)])
    return draw.pick(first) + draw.pick(last)


def blend(draw: Draw, names: list[str]) -> str:
    """Joins the beginning of one name and the end of another, cut before a consonant."""
    begin, end = draw.pick(names), draw.pick(names)
    consonant = re.compile(r"(?<=\w)[^\Waeiouyäöüáéíóú](?=\w)")
    cuts = [[m.start() for m in consonant.finditer(name)] or [len(name) // 2]
            for name in (begin, end)]
    return begin[:draw.pick(cuts[0])] + end[draw.pick(cuts[1]):]


def invented(draw: Draw, names: list[str]) -> str:
    """Returns three to fourteen letters with a capital; one in twenty has a rare letter."""
    while True:
        name = draw.weighted({syllables: 55, compound: 20, blend: 25})
        name = name(draw, names) if name is blend else name(draw)
        name = re.sub(r"(.)\1\1", r"\1\1", name).capitalize()
        if not 3 <= len(name) <= 14 or not re.fullmatch(r"\w+", name):
            continue
        if draw.percent(5):
            at = draw.below(len(name))
            name = name[:at] + draw.pick(ACCENTED.get(name[at], [name[at]])) + name[at + 1:]
        return name
