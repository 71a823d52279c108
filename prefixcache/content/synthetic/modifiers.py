"""Adjectives and adverbs by what they can describe, so that every pairing the templates make reads well."""

from __future__ import annotations

from prefixcache.content.synthetic.wordlist import words

COLORS = words(
    """
    red orange yellow green blue purple pink brown black white gray golden silver scarlet crimson violet turquoise
    beige ivory amber maroon lavender
    """
)

OF_THINGS = words(
    """
    small large big little tiny huge old new ancient modern simple fancy plain heavy light wooden metal plastic round
    square flat smooth rough shiny dusty clean bright dark soft hard thick thin narrow wide long short beautiful lovely
    pretty elegant colorful striped spotted painted polished handmade homemade unusual rare ordinary special useful
    valuable precious cheap expensive favorite broken cracked sturdy fragile delicate solid hollow empty curved straight
    pointed sharp blunt glossy matte sparkling gleaming rusty faded worn antique vintage portable compact giant
    miniature decorative practical curious mysterious strange familiar perfect warm cool pale folded carved woven
    knitted printed
    """
)

OF_PEOPLE = words(
    """
    kind patient clever friendly honest brave calm cheerful careful curious generous gentle happy helpful humble
    polite proud quiet reliable responsible sensible serious shy sincere skilled skillful smart thoughtful tidy tired
    wise young busy creative confident courageous courteous dedicated determined diligent disciplined eager
    earnest energetic enthusiastic experienced faithful famous fair flexible forgiving funny gifted graceful
    grateful hardworking hopeful hospitable imaginative independent industrious intelligent inventive joyful lively
    loyal mature merry modest observant optimistic organized outgoing passionate peaceful playful pleasant practical
    punctual resourceful respectful respected retired silent sociable studious successful sympathetic talented
    thankful thorough tireless tolerant trusted upbeat versatile warmhearted witty
    """
)

OF_BUILDINGS = words(
    """
    quiet busy crowded peaceful pleasant beautiful famous historic old new modern small large sunny shady spacious cozy
    charming lovely central popular public private open picturesque magnificent splendid grand elegant narrow wide
    bright noisy calm clean tidy welcoming inviting impressive northern southern eastern western coastal rural urban
    medieval abandoned restored renovated enormous
    """
)

OF_LANDSCAPES = words(
    """
    quiet peaceful beautiful famous small large sunny shady lovely remote distant nearby popular scenic picturesque
    magnificent splendid green snowy rocky sandy grassy leafy foggy misty windy breezy wild calm northern southern
    eastern western wide narrow silent enormous
    """
)

OF_ANIMALS = words(
    """
    small large young old gentle playful friendly shy lively hungry sleepy curious noisy quiet clever brave
    healthy strong fast slow swift graceful clumsy fluffy furry woolly spotted striped brown black white gray tame
    wild lazy energetic cheerful careful stubborn thirsty
    """
)

OF_WEATHER = words(
    """
    sunny rainy cloudy windy snowy foggy misty stormy chilly cold cool warm hot mild humid dry frosty icy breezy bright
    gray pleasant clear
    """
)

OTHERS = words(
    """
    able absolute abstract academic accurate active actual additional adequate annual apparent appropriate artistic
    automatic available average aware basic borrowed brief broad capable certain chief classic classical clear close
    comfortable common complete complex constant convenient correct cultural current daily deep definite democratic
    dense different direct distinct domestic double dramatic due dynamic early easy economic educational effective
    efficient electric electronic endless entire equal essential eternal exact excellent exciting exotic external extra
    extreme fantastic federal final financial fine firm first foreign forgotten formal former fortunate free frequent
    fresh full fundamental general genuine global golden good gradual great half harmless historical holy horizontal
    human ideal identical immediate important incredible individual indoor initial inner interesting internal
    international junior key known last late latest legal level likely liquid literary live local logical loose low main
    major marine matching maximum mechanical medical mental mere mild minimum minor missing mixed mobile monthly moral
    multiple musical mutual narrow national natural near neat necessary negative nervous neutral next nice noble normal
    notable numerous objective obvious odd official online opposite optional oral original other outdoor outer overall
    own parallel partial particular past permanent personal physical planned political positive possible potential
    powerful precise present previous primary probable professional proper proud quick random rapid raw ready real
    reasonable recent regional regular related relative relevant remarkable rented rich right romantic royal rural safe
    scientific second secondary secure senior separate several significant similar single slight smooth social spare
    specific spiritual stable standard steady steep strict strong sudden sufficient suitable super superb supreme sure
    surprising sweet symbolic technical temporary tender terrific theoretical third tight total traditional tropical
    true typical ultimate unique universal upper usual vacant valid various vast verbal vertical visible visual vital
    vivid volcanic weekly whole willing wonderful worldwide worthy yearly
    """
)

# Manner: each fits both "Linda carefully cleaned the lamp" and "Linda cleaned the lamp carefully".
MANNER = words(
    """
    carefully quickly slowly quietly happily gladly cheerfully patiently gently calmly proudly neatly eagerly busily
    cleverly confidently diligently effortlessly energetically enthusiastically expertly gracefully joyfully lovingly
    merrily methodically nicely peacefully playfully promptly skillfully smoothly steadily swiftly thoroughly
    thoughtfully tidily tirelessly willingly
    """
)

DEGREE = words(
    """
    very quite rather fairly really truly especially particularly unusually remarkably extremely surprisingly
    wonderfully pleasantly incredibly exceptionally
    """
)

OTHER_ADVERBS = words(
    """
    about above abroad absolutely accordingly accurately across actually afterward again ago ahead almost alone along
    aloud already also altogether always annually anyway anywhere apart apparently around aside automatically away
    barely basically before below beneath beside besides between beyond boldly bravely briefly certainly clearly closely
    comfortably commonly completely constantly correctly courageously creatively curiously currently daily deeply
    definitely deliberately directly doubtless downstairs early easily either elegantly elsewhere entirely equally
    essentially eventually ever everywhere evidently exactly exclusively faithfully finally firmly first fondly forever
    formally formerly fortunately forward freely frequently fully generally generously gradually gratefully greatly
    hardly hastily hence here highly honestly hopefully hurriedly immediately indeed independently individually indoors
    initially inside instead just kindly largely lately later lazily lightly likely likewise literally locally loyally
    mainly maybe meanwhile merely mildly modestly monthly moreover mostly naturally nearby nearly necessarily never
    nevertheless newly next nightly nonetheless normally notably nowadays nowhere obviously occasionally officially
    often once only openly originally otherwise outdoors outside overall overnight partially partly perfectly perhaps
    permanently personally physically pleasantly politely possibly practically precisely presently presumably previously
    primarily privately probably properly publicly purely rapidly rarely readily recently regularly relatively reliably
    repeatedly respectfully responsibly roughly safely secretly seldom separately seriously sharply shortly
    significantly silently similarly simply simultaneously sincerely slightly softly solemnly sometimes somewhat
    somewhere soon specifically still straight strictly strongly subsequently successfully suddenly sufficiently
    supposedly surely technically temporarily tenderly then there thereby therefore though thus together tomorrow
    tonight totally traditionally twice typically ultimately underneath undoubtedly universally upstairs usually vaguely
    virtually visibly weekly well widely wisely worldwide yearly yesterday yet
    """
)

# How often: each fits "Linda and Alice meet ... near the bridge".
HOW_OFTEN = words("often sometimes regularly occasionally rarely daily weekly again frequently usually")

OF_WORKS = words(
    """
    quiet old new short long famous simple small modern ancient clever curious funny gentle honest important
    interesting lovely popular practical precious rare serious special strange unusual useful valuable wonderful
    helpful brief careful cheerful classic complete detailed elegant excellent friendly
    """
)
