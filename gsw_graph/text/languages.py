"""Languages other than English: which one a text is in, and its function words, by which names are found.

Word lists hold what often opens a sentence with a capital, or stands before a name: articles, prepositions,
pronouns, conjunctions, adverbs and auxiliary verbs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from gsw_graph.text.scripts import is_uncased
from gsw_graph.text.words import FUNCTION_WORDS, LETTERS, STOP_WORDS, fold

_LEAST = 0.08  # share of function words in a text of a language
_READ = 4000  # characters of a text that tell its language


@dataclass(frozen=True)
class Language:
    """What names and words depend on.

    Attributes:
        code: ISO 639-1.
        words: Function words, in small letters; English ones where no others are known.
        joins: Words within one name.
        nouns: Whether all nouns have a capital.
    """

    code: str
    words: frozenset[str] = FUNCTION_WORDS
    joins: frozenset[str] = frozenset()
    nouns: bool = False

    @cached_property
    def folded(self) -> frozenset[str]:
        """Return the function words as they occur among the words of a text."""
        return frozenset(map(fold, self.words))


ENGLISH = Language("en")
LANGUAGES = (
    Language(
        "de",
        frozenset(
            """der die das den dem des ein eine einen einem einer eines kein keine keinen er sie es wir
            ihr ich
            du man ihn ihm ihnen sich sein seine seinen seinem seiner seines ihre ihren ihrem
            ihrer ihres unser unsere und oder aber denn doch sondern dass weil wenn als ob
            obwohl während bevor nachdem damit bis seit in im an am auf aus bei beim mit nach
            von vom vor zu zum zur über unter durch für gegen ohne um hinter neben zwischen
            trotz wegen ist sind war waren wird wurde wurden hat hatte haben kann konnte soll
            sollte muss nicht nur auch noch schon sehr so dann da dort hier heute später danach
            dabei dazu dafür darauf einst zuerst zuletzt zusammen wie was wer wo wann warum
            welche welcher welches welchen wessen woher wohin diese dieser dieses diesen jede
            jeder jedes alle viele einige mehrere erst ab laut beide
            welchem dessen deren denen diesem jene jener jenes jenen jenem jedem jeden uns mich mir dich dir
            euch ihnen ins ans ums vors etwas nichts sowie sowohl weder daher deshalb dagegen darin daran
            davon darum worin womit wofür wodurch wobei sei seien wäre waren werden worden hätte konnten
            sollten innerhalb außerhalb gegenüber außer statt samt je doch etwa""".split()
        ),
        nouns=True,
    ),
    Language(
        "fr",
        frozenset(
            """le la les un une des du de au aux à en dans sur sous par pour avec sans chez vers entre depuis
            pendant avant après contre selon dès il elle ils elles on nous vous je tu ce cet
            cette ces son sa ses leur leurs mon ma mes notre nos votre qui que quoi dont où
            quand comment pourquoi quel quelle quels quelles et ou mais donc or ni car si comme
            lorsque puisque quoique est sont était étaient fut furent sera a ont avait avaient
            être ne pas plus moins très aussi alors ainsi puis ensuite enfin ici là y se lui eux
            tout toute tous toutes plusieurs chaque quelques autre autres même aujourd'hui""".split()
        ),
        frozenset("aux au à d du des de la le les".split()),
    ),
    Language(
        "es",
        frozenset(
            """el la los las un una unos unas de del al a en con sin por para sobre bajo entre hasta desde
            hacia contra según durante tras ante él ella ellos ellas ello yo tú nosotros usted
            se lo le les su sus mi mis este esta estos estas ese esa eso aquel aquella que quien
            quién quiénes cuyo cuya qué cuál cuáles dónde donde cuándo cuando cómo como por
            porque pues si y e o u pero sino aunque mientras es son era eran fue fueron será ha
            han había habían está estaba no ni sí también más menos muy ya aún así entonces
            luego después antes hoy allí aquí todo toda todos todas cada otro otra otros otras
            mismo""".split()
        ),
        frozenset("de del la las los el y".split()),
    ),
    Language(
        "pt",
        frozenset(
            """o a os as um uma uns umas de do da dos das em no na nos nas ao à aos às com sem por pelo pela
            para sobre sob entre até desde contra segundo durante após perante ele ela eles elas
            eu tu nós você se lhe seu sua seus suas meu minha este esta estes estas esse essa
            isso aquele aquela que quem cujo cuja qual quais onde quando como porque pois se e
            ou mas porém embora enquanto é são era eram foi foram será há havia tem tinha está
            estava não nem sim também mais menos muito já ainda assim então depois antes hoje
            ali aqui todo toda todos todas cada outro outra outros outras mesmo""".split()
        ),
        frozenset("de do da dos das e".split()),
    ),
    Language(
        "it",
        frozenset(
            """il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da
            dal dalla dai in nel nello nella nei negli nelle con su sul sulla sui sugli per tra
            fra senza sotto sopra verso contro durante dopo prima egli ella lui lei essi esse io
            tu noi voi loro si ci vi ne suo sua suoi sue mio mia questo questa questi queste
            quello quella che chi cui quale quali dove quando come perché e ed o ma però se
            mentre anche è sono era erano fu furono sarà ha hanno aveva avevano non né più meno
            molto già ancora così allora poi quindi oggi lì qui tutto tutta tutti tutte ogni
            altro altra altri altre stesso""".split()
        ),
        frozenset("di del dello della dei degli delle da dal d e".split()),
    ),
    Language(
        "ru",
        frozenset(
            """и в во не на я он она оно они мы вы ты что чтобы как так но а или если то же бы ли уже
            ещё еще с
            со у к ко от до из за по о об обо при для без под над перед после через между про
            среди около вокруг его её ее их ему ей им ими нём нем ней них этот эта это эти тот
            та те того той тех свой своя своё свои себя себе который которая которое которые
            которого которой кто кого кому чей чья чьё где когда куда откуда почему какой какая
            какое какие был была было были есть быть будет нет там тут здесь потом затем позже
            тогда теперь сначала вместе также тоже только очень все всё весь каждый один одна
            однако хотя пока
            поскольку потому поэтому чтобы либо ни чем чему чём каком какому каким каких какими какую
            каком которому которым которыми котором которых которую чьей чьего чьему чьим чьих чью чьи
            этого этому этим этом этих этими этой эту тому тем том теми той ту нас нам нами вас вам меня
            мне мной тебя тебе нею ними собой своего своему своим своём своих своей свою всего всему всем
            всех всеми всей каждая каждое одного одной одному одним одном будто словно лишь именно""".split()
        ),
    ),
    Language(
        "el",
        frozenset(
            """ο η το οι τα του της των τον την τους τις στο στη στην στον στα στους στις σε από με για προς
            κατά μετά πριν χωρίς μέχρι ως και κι ή αλλά όμως ότι πως που αν όταν ενώ γιατί διότι
            επειδή να θα δεν μην είναι ήταν έχει είχε έχουν είχαν αυτός αυτή αυτό αυτοί ένας μια
            μία ένα ποιος ποια ποιο ποιοι τι πού πότε όπου όπως εκεί εδώ τότε τώρα μόνο πολύ πιο
            κάθε όλα όλοι μαζί ακόμα επίσης""".split()
        ),
    ),
)
# Function words of other languages that an English question may have too, as its own or within a name.
_ENGLISH_TOO = STOP_WORDS | frozenset(
    """ab ai ans bald bis car chi con contra die dir dont dove elle er era es est fu ha hat ins io las lei lo
    los lui ma man mas mein mi mio mir mit mon ne non nos os par para pas plus por pour prima sans se sei sera
    si sin son sotto sous su sur todo tout tra tu um un una uno unter verso war""".split()
)
_ARTICLES = frozenset(
    """der die das ein eine le la les un une el los las una o a os as um uma il lo i gli uno
    ο η το οι τα""".split()
)
# Scripts without capitals tell their language; Japanese first, which has Chinese signs too.
_SCRIPTS = tuple(
    (Language(code), re.compile(f"[{signs}]"))
    for code, signs in (
        ("ja", "ぁ-ヺ"), ("zh", "\u3400-\u9fff"), ("ko", "가-힣"), ("ar", "ء-ي"), ("hi", "\u0900-\u097f"),
    )
)  # fmt: skip
_BY_CODE = {language.code: language for language in (ENGLISH, *LANGUAGES, *(own for own, _ in _SCRIPTS))}
_BEFORE_NOUN = re.compile(
    r"d(?:er|ie|as|en|em|es)|(?:k?ein|mein|sein|ihr|unser|dies|jed|welch|all|viel|einig|mehrer|beid)(?:e[nmrs]?)?"
    r"|[iazvb](?:m|ns|um|ur|om|eim)|[a-zäöüß]{4,}e[nmrs]?"
)
BEFORE_PLACE = frozenset(
    "ab auf aus bei bis durch gegenüber in nach nahe nördlich östlich südlich von vor westlich".split()
)
_ADJECTIVE = re.compile(r"(?<=\w{3})e[mnrs]?$")
_ELISION = re.compile(
    r"(?:[cdjlmnst]|qu|lorsqu|puisqu|un|all|dell|dall|nell|sull|quest)'(?=[^\W\d_]{2})", re.IGNORECASE
)


@lru_cache(maxsize=256)
def detect(text: str) -> Language:
    """Return the language that a text has most function words of, or whose script it has; English where it
    has few of any, or but one that is English too or opens a name."""
    text = text[:_READ]
    if is_uncased(text):
        seen = (language for language, signs in _SCRIPTS if 10 * len(signs.findall(text)) > len(text))
        return next(seen, ENGLISH)
    first, *rest = re.findall(LETTERS, text) or [""]
    tokens = [first.lower(), *filter(str.islower, rest)]  # a name may be of another language
    counts = [(sum(token in language.words for token in tokens), language) for language in LANGUAGES]
    most, language = max(counts, key=lambda count: count[0])
    english = sum(token in FUNCTION_WORDS for token in tokens)
    found = language.words.intersection(tokens)
    opener = tokens[0] if first.isascii() and "".join(rest[:1]).istitle() else ""  # Das Boot
    told = len(found) > 1 or not found <= {*_ENGLISH_TOO, opener}
    return language if told and most > english + bool(english) and most >= _LEAST * len(tokens) else ENGLISH


def elided(word: str) -> int:
    """Return how many letters an elided article before a name takes: l'Ancienne, d'Oberlinden."""
    return len(match[0]) if (match := _ELISION.match(word)) else 0


def language_of(code: str) -> Language:
    """Return the language with a code of ISO 639-1; in one that is not known here names are found as in
    English."""
    return _BY_CODE.get(code) or Language(code)


def without_article(name: str, language: Language) -> str:
    """Return a name without the article before it: Die Isar. English ones have no part in a normal form."""
    first, _, rest = name.partition(" ")
    foreign = language.words is not FUNCTION_WORDS
    return rest if rest and foreign and first.lower() in language.words & _ARTICLES else name


def precedes_noun(word: str) -> bool:
    """Tell whether a German word stands before common nouns, as an article or an adjective does."""
    return bool(_BEFORE_NOUN.fullmatch(word))


def inflections(name: str) -> list[str]:
    """Return the other forms that a German name may have: des Neuen Theaters, das Neue Theater, ein Neues
    Theater."""
    *adjectives, noun = name.split()
    nouns = [noun.removesuffix(ending) for ending in ("", "s", "es")]
    endings = ("e", "er", "es", "en") if any(map(_ADJECTIVE.search, adjectives)) else ("",)
    forms = (
        " ".join([*(_ADJECTIVE.sub(ending, word) for word in adjectives), form])
        for ending in endings
        for form in nouns
    )
    return [form for form in dict.fromkeys(forms) if form != name]
