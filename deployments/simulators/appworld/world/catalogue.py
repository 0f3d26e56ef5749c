"""What the shops offer: music and goods. All titles, artists, sellers and products are inventions."""

from dataclasses import dataclass

ARTISTS = (
    ("Juniper Vale", "folk"),
    ("The Copper Moths", "rock"),
    ("Ada Quill", "jazz"),
    ("Neon Harbor", "electronic"),
    ("Silas Wren", "indie"),
    ("Velvet Tram", "soul"),
    ("Northbound Echo", "rock"),
    ("Mira Solane", "pop"),
    ("Paper Comets", "indie"),
    ("Low Tide Choir", "folk"),
    ("Kaito Ferro", "electronic"),
    ("Blue Hour Trio", "jazz"),
)
"""Name and genre."""


@dataclass(frozen=True)
class Album:
    """An album of five songs."""

    title: str
    artist: str
    year: int
    songs: tuple[str, ...]


@dataclass(frozen=True)
class Song:
    """A song as the playlists name it."""

    title: str
    artist: str


_ALBUMS = """
Hedgerow Letters | Juniper Vale | 2014 | Wild Carrot; Slow Gate; Hollow Lane; Candle Ferry; Autumn Post
Barefoot Almanac | Juniper Vale | 2020 | Barley Moon; Riverkeeper; Thistle Road; First Frost; Swallow Hour
Iron Lanterns | The Copper Moths | 2016 | Rust Parade; Ember Street; Wire and Wing; Broken Dial; Foundry Kid
Loud Weather | The Copper Moths | 2021 | Thunder Lease; Hail Mary Lane; Static Coast; Siren Field; Gale Season
Midnight Ledger | Ada Quill | 2012 | Blue Receipt; Velvet Cipher; Two in the Lobby; Smoke Ring Waltz; Last Tram
Copper Sleep | Ada Quill | 2019 | Lullaby for Pigeons; Piano in the Rain; Half Past Amber; Quiet Debt; Marble Stairs
Signal Garden | Neon Harbor | 2018 | Pixel Tide; Harbor Lights; Glass Circuit; Night Ferry; Echo Bloom
Afterimage City | Neon Harbor | 2022 | Chrome Sunday; Satellite Kiss; Neon Rain; Zero Meridian; Ghost Arcade
Postcards Unsent | Silas Wren | 2017 | Paper Kite; Platform Nine; Letter to June; Borrowed Coat; Empty Matinee
Small Rooms | Silas Wren | 2023 | Kitchen Radio; Stairwell Song; Unmade; Corner Window; Spare Key
Honey District | Velvet Tram | 2015 | Sugar Line; Slow Brass; Sunday Velvet; Warm Front; Golden Fare
Second Avenue | Velvet Tram | 2021 | Crosstown Heart; Taxi Prayer; Streetlight Choir; Rooftop Mercy; Late Fare
Glacier Radio | Northbound Echo | 2013 | White Noise North; Avalanche Phone; Pine Signal; Cold Engine; Long Thaw
Timberline | Northbound Echo | 2019 | Tree Ring; Summit Fever; Granite Choir; Snowblind; Cairn
Paper Crown | Mira Solane | 2018 | Confetti Tears; Mirror Ball; Crown of Paper; Sugar Alarm; Polaroid
Daydream Tax | Mira Solane | 2022 | Daydream; Weekend Visa; Cloud Nine Rent; Peach Sky; Heart on Hold
Orbit Diary | Paper Comets | 2016 | Moon Clerk; Gravity Joke; Comet Mail; Night Library; Small Planet
Tidal Manners | Low Tide Choir | 2020 | Salt Psalm; Driftwood; Harbor Bell; Seven Gulls; Ebb
Voltage Bloom | Kaito Ferro | 2023 | Current; Copper Sky; Arc Light; Resistor; Bloom State
Third Set | Blue Hour Trio | 2017 | Brush and Bone; Cellar Door; Blue Hour; Nightcap; Encore for Nobody
"""


def _parse_albums() -> tuple[Album, ...]:
    albums = []
    for line in _ALBUMS.strip().splitlines():
        title, artist, year, songs = (part.strip() for part in line.split("|"))
        titles = tuple(song.strip() for song in songs.split(";"))
        albums.append(Album(title, artist, int(year), titles))
    return tuple(albums)


ALBUMS = _parse_albums()

SONGS = tuple(Song(title, album.artist) for album in ALBUMS for title in album.songs)
"""All songs, one hundred, in album order."""

SELLERS = (
    "Fernhill Goods",
    "Blue Kettle Store",
    "Oak and Iron",
    "Pocket Atlas",
    "Lumen Supply",
    "Marlow Outfitters",
)

PRODUCTS = {
    "kettle": (("Emberline Kettle", 34.0), ("Steamwell Kettle", 48.5), ("Brewster Kettle", 27.25)),
    "headphones": (
        ("Hushtone Headphones", 89.0),
        ("Clarity One Headphones", 129.0),
        ("Bassline Headphones", 59.5),
    ),
    "backpack": (
        ("Ridgeway Backpack", 74.0),
        ("Daytrail Backpack", 52.0),
        ("Summit Fold Backpack", 95.0),
    ),
    "desk lamp": (
        ("Glowarm Desk Lamp", 31.5),
        ("Arcline Desk Lamp", 44.0),
        ("Studio Desk Lamp", 67.0),
    ),
    "yoga mat": (
        ("Calmstep Yoga Mat", 22.0),
        ("Terra Yoga Mat", 38.0),
        ("Cloudgrip Yoga Mat", 29.75),
    ),
    "water bottle": (
        ("Streamline Water Bottle", 18.0),
        ("Arctic Flask Water Bottle", 26.5),
        ("Pebble Water Bottle", 12.0),
    ),
    "board game": (
        ("Harbor Kings Board Game", 41.0),
        ("Lost Caravan Board Game", 36.0),
        ("Moss and Stone Board Game", 28.0),
    ),
    "umbrella": (
        ("Stormfold Umbrella", 24.0),
        ("Drizzle Umbrella", 15.5),
        ("Galeproof Umbrella", 33.0),
    ),
    "notebook": (
        ("Foolscap Notebook", 9.5),
        ("Meridian Notebook", 14.0),
        ("Dot Field Notebook", 11.25),
    ),
    "coffee grinder": (
        ("Millwright Coffee Grinder", 56.0),
        ("Finegrain Coffee Grinder", 83.0),
        ("Handmill Coffee Grinder", 39.0),
    ),
    "running shoes": (
        ("Fleetfoot Running Shoes", 98.0),
        ("Trailwind Running Shoes", 112.0),
        ("Strider Running Shoes", 76.5),
    ),
    "bike light": (
        ("Nightbeam Bike Light", 21.0),
        ("Twinspark Bike Light", 16.0),
        ("Farsight Bike Light", 35.0),
    ),
    "cookbook": (
        ("Seven Soups Cookbook", 19.0),
        ("The Patient Oven Cookbook", 25.0),
        ("Green Table Cookbook", 23.5),
    ),
    "plant pot": (
        ("Clayhouse Plant Pot", 13.0),
        ("Speckle Plant Pot", 17.5),
        ("Tallform Plant Pot", 28.5),
    ),
}
"""Product type to its products, each with a price in dollars."""
