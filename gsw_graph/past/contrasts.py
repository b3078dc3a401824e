"""Words by which two questions that look alike ask for different things: "born" and "died", "first" and
"last", "mother" and "father". English; which words stand against which is ours.

A family is a set of senses, told apart by `|`, of which a question means some or none. Words of one sense
may stand for each other.
"""

from __future__ import annotations

from functools import cache

_FAMILIES = {
    "life": "born birth births birthplace birthday native | died die dies dying death deaths dead "
    "deceased killed | buried burial grave tomb",
    "kin": "mother mothers mom mum | father fathers dad | parent parents | son sons | daughter daughters "
    "| child children kid kids | brother brothers | sister sisters | sibling siblings | wife "
    "wives husband husbands spouse spouses married marry marries marriage wed wedded | uncle "
    "uncles | aunt aunts | cousin cousins | nephew nephews | niece nieces | stepmother | "
    "stepfather | grandmother grandmothers | grandfather grandfathers | grandson | granddaughter "
    "| grandparent grandparents | grandchild grandchildren | fiance fiancee",
    "order": "first 1st | last final finally ultimate | next following subsequent successor successors "
    "succeeded later | previous preceding predecessor predecessors preceded earlier former "
    "formerly | current currently present nowadays today now incumbent | penultimate",
    "age": "older oldest elder eldest | younger youngest | newer newest latest",
    "span": "began begin begins begun beginning start starts started starting formed form forms formation "
    "founded founding established establish establishment created creation inception launched "
    "commenced | end ends ended ending finish finished stop stops stopped ceased dissolved "
    "dissolve dissolution disbanded abolished closed closure expired fell | join joins joined "
    "admitted enter entered | leave leaves left leaving withdrew withdraw withdrawal quit seceded",
    "size": "largest biggest greatest larger bigger greater | smallest smaller | least fewest fewer less "
    "| most more | longest longer | shortest shorter",
    "height": "highest tallest higher taller | lowest lower",
    "heat": "coldest colder | warmest hottest warmer hotter",
    "rate": "fastest faster | slowest slower | cheapest cheaper | costliest dearer expensive | best "
    "better | worst worse | nearest closest | farthest furthest",
    "side": "north northern northernmost | south southern southernmost | east eastern easternmost | west "
    "western westernmost | upper | lower",
    "time": "before prior until | after since | during while | between",
    "maker": "author authors writer writers wrote written write writes novelist | director directors "
    "directed directs | producer producers produced produces | composer composers composed "
    "composes | performer performers performed singer singers sang sung sings | actor actors "
    "actress actresses portrayed portrays portray played plays starred stars starring | "
    "publisher publishers published publishes | editor editors edited | illustrator "
    "illustrators illustrated | designer designers designed architect architects | founder "
    "founders | inventor inventors invented | translator translators translated | owner "
    "owners owned owns | painter painters painted | screenwriter screenwriters | narrator "
    "narrated | coach coaches coached | manager managers managed | sponsor sponsors sponsored "
    "| discoverer discovered | builder builders",
    "office": "president presidents | king kings | queen queens | emperor emperors empress | governor "
    "governors | mayor mayors | chancellor chancellors | senator senators | secretary | treasurer "
    "| premier minister ministers | pope | bishop",
    "outcome": "won win wins winner winners victory victor beat beaten defeated | lost lose loses loser "
    "losers",
    "place": "city cities town towns village villages | county counties | province provinces | district "
    "districts | continent continents | country countries nation nations | state states | river "
    "rivers | lake lakes | mountain mountains peak | ocean | island islands | airport airports | "
    "hotel hotels | bridge bridges | waterfall waterfalls | street | capital capitals | seat",
    "institution": "newspaper newspapers | magazine magazines | church churches | school schools | "
    "university universities college colleges | hospital | museum",
    "measure": "population populated people inhabitants | area | height elevation altitude | depth | length "
    "| weight | temperature | budget | salary | price cost",
    "thing": "film films movie movies | book books novel novels | song songs | album albums | opera operas "
    "| painting paintings | poem poems | game games | band bands | team teams | company companies "
    "| language languages | religion | currency currencies money",
    "politics": "republican republicans | democrat democrats",
    "gender": "man men male males boy boys gentleman | woman women female females girl girls lady ladies",
    "learning": "studied study studies student attended attend attends educated | taught teach teaches "
    "teacher teaching",
    "work": "employer employers | employee employees",
    "trade": "bought buy buys purchased acquired | sold sell sells",
    "leave": "accepts accept accepted allowed allowing allow allows permitted | refused refuse refuses "
    "refusing forbidden forbidding forbid banned prohibited",
}
# Of these one question may not mean a sense of which the other says nothing: it is what is asked for.
STRICT = frozenset("life kin order age outcome politics gender".split())
NEGATION = frozenset(
    "not no never without nor neither none except excluding besides apart cannot n't".split()
)
ORDINALS = {
    word: str(n)
    for n, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
}
# Words that narrow nothing down.
FILLER = frozenset(
    """name names named call called certain place places location located locate lie lies lying situated
    stand stands kind type sort thing term year date time day whereabouts person people somebody someone
    something take takes taking took get gets got go goes went come comes came happen happened happens occur
    occurs occurred hold held tell know give gave one which whose another other also belong belongs part
    particular question exactly ever actually instance set""".split()
)
# Further words that say the same, beside those of a sense above. Those of `retrieve/facts/` are looser: where
# a sentence is looked for, who published a book is near to who wrote it.
_SAME = (
    "border borders bordering shares adjacent near nearby close beside adjoins adjoining neighboring",
    "attend attended attends",
    "plane planes aircraft airplane airplanes aeroplane",
    "charge governed governs govern ruled rules ruling rule ruler leader leads led lead head headed running",
    "area region",
    "main biggest largest",
    "people live lives living population inhabitants",
    "creator maker made created makes",
    "mapped charted",
    "dissolve dissolved disbanded ended",
    "body water river lake sea",
    "performer artist singer musician",
    "film movie",
    "shop shops store stores supermarket supermarkets",
    "host hosted hosts",
    "sibling brother sister",
    "enacted enact passed pass passes",
    "use used uses",
    "show shows series",
    "job profession occupation",
    "nationality citizen citizenship",
    "amount number count",
    "globe world earth",
    "limit limits boundary boundaries",
    "inhabitants population residents",
    "firm company business",
    "home from origin",
    "author writer wrote",
    "university college alma mater",
    "US U.S USA America American",
)


@cache
def senses() -> dict[str, tuple[tuple[str, int], ...]]:
    """The family and the number of each sense that a word has."""
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for family, text in _FAMILIES.items():
        for number, words in enumerate(text.split("|")):
            for word in words.split():
                found[word] = (*found.get(word, ()), (family, number))
    return found


@cache
def synonyms() -> dict[str, frozenset[int]]:
    """The numbers of the lines of words that say the same in which a word stands."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_SAME):
        for word in line.casefold().split():
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}
