/**
 * The words that generated text is made of: ordinary English, chosen so that no word is also the
 * name of a program, a keyword or a function that rule sets look for. Data only.
 */

/** Words that sentences hang together by; every third word or so of English is one of them. */
export const smallWords: readonly string[] = words(`
a we to my of in on it is or at by be so if and the our was for has you but all two new are its had
they with from that this were have been will very each more after since about their
there would which could every before another between`);

/** Words with a meaning of their own. */
export const plainWords: readonly string[] = words(`
oak elm sea sky sun bay hat cup jam tea egg pea bee fox owl cow hen lamb leaf moon lake hill bird
boat wool silk salt rice soup pear plum rose fern moss wind rain snow hail dawn noon dusk
door roof lamp sofa bowl fork oven yard barn farm lane road town city park pond path tree seed
root wood iron gold blue pink grey dark pale warm cold cool soft firm thin wide deep tall calm
kind glad busy easy slow quiet early brown green white black amber olive ivory small large
heavy light sweet fresh clean clear smart brave happy lucky proud young gentle honest simple modern
apple berry lemon melon grape peach onion bread honey sugar cocoa spice mango maize wheat barley
river ocean coast beach cliff woods grove hedge fence bench porch attic cabin tower
house villa hotel store train wagon canoe ferry truck wheel pedal motor horse sheep goose eagle
robin finch heron otter mouse tiger zebra panda camel koala rabbit badger turtle salmon trout
coffee butter cheese tomato potato carrot celery garlic ginger pepper cherry orange almond walnut
garden flower meadow forest valley desert canyon island harbor street avenue square corner market
bakery museum office school church castle palace temple cinema studio window mirror carpet pillow
blanket curtain kitchen bedroom balcony terrace chimney cottage village country weather morning
evening weekend holiday journey luggage tickets station airport railway bicycle tractor trailer
harvest orchard pasture blossom daisies sunrise sunset rainbow thunder breeze winter summer autumn
spring january october monday tuesday friday sunday birthday family mother father sister brother
daughter grandma grandpa cousin friend neighbor teacher student doctor dentist farmer painter
writer singer dancer sailor tailor cobbler weaver potter gardener musician engineer librarian
jacket sweater trousers raincoat mittens slippers sandals trainers laces buttons pockets collar
leather cotton velvet canvas marble granite copper bronze silver golden wooden woollen knitted
painted polished printed striped spotted folded hidden broken mended covered crowded peaceful
cheerful colorful wonderful beautiful excellent friendly generous careful grateful patient
pleasant ordinary favorite delicious fragrant seasonal regional original practical reliable
comfortable waterproof lightweight handmade affordable available suitable spacious sheltered
visited carried painted enjoyed followed gathered borrowed returned repaired replaced promised
wandered travelled noticed admired preferred collected delivered decorated organised welcomed
invited answered remembered described suggested discovered finished started arrived departed
parcel package envelope postcard receipt catalog magazine newspaper notebook calendar pencil
picture painting portrait sculpture furniture cupboard wardrobe bookshelf armchair fireplace
umbrella suitcase backpack necklace bracelet earrings perfume lipstick toothpaste shampoo
breakfast luncheon sandwich pancakes porridge chocolate lemonade marmalade strawberry raspberry
blackberry pineapple mushrooms asparagus cucumber artichoke vegetables vineyard greenhouse
watermelon elderberry grapefruit cauliflower peppermint waterfall mountains lighthouse riverside
countryside hillside campsite playground restaurant university laboratory pharmacy supermarket
theatre orchestra concert festival exhibition performance tournament swimming football
basketball volleyball gymnastics badminton adventure excursion direction distance kilometre
hospital community apartment residence household childhood afternoon yesterday tomorrow
september november wednesday thursday saturday companion colleague passenger traveller
photograph instrument saxophone harmonica accordion clarinet furnished sparkling whispering
snowflakes raindrops moonlight starlight sunflower buttercup honeysuckle lavender rosemary
cinnamon vanilla saffron tangerine nectarine hazelnut chestnut butternut dragonfly butterfly
bumblebee hummingbird nightingale woodpecker kingfisher blackbird squirrel hedgehog porcupine`);

function words(text: string): readonly string[] {
  return [...new Set(text.trim().split(/\s+/))];
}
