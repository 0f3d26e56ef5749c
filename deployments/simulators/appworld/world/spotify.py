"""The music catalogue and what people made of it: libraries, playlists, likes, reviews."""

from datetime import datetime
from random import Random
from typing import Any

from world.catalogue import ALBUMS, ARTISTS
from world.engine import Engine, ago
from world.people import Person, residents, supervisors

_PLAYLISTS = ("Morning Coffee", "Weekend", "Road Songs", "Rainy Days")

_REVIEW_TITLES = {1: "Not for me", 2: "Too long", 3: "Decent", 4: "Lovely", 5: "On repeat"}


def fill_spotify(engine: Engine, rng: Random) -> None:
    """Makes artists, albums and a hundred songs, then the libraries of the supervisors."""
    songs, albums = _fill_catalogue(engine, rng)
    for person in supervisors():
        _fill_library(engine, rng, person, songs, albums)
    listeners = [person for person in residents() if person not in supervisors()]
    engine.at(ago(35))
    for person in listeners[:14]:
        for song in rng.sample(songs, 3):
            engine.call("spotify", "like_song", person, song_id=song.id)
    _fill_reviews(engine, rng, songs, albums)


def _fill_catalogue(engine: Engine, rng: Random) -> tuple[list[Any], list[Any]]:
    models = engine.models.spotify
    engine.at(datetime(2012, 1, 1))
    artists = {name: models.Artist.create_save(name=name, genre=genre) for name, genre in ARTISTS}
    total = sum(len(album.songs) for album in ALBUMS)
    play_counts = rng.sample(range(120, 9800), total)  # no two alike: "the most played" is one song
    durations = rng.sample(range(140, 390), total)
    songs, albums = [], []
    for album in ALBUMS:
        artist = artists[album.artist]
        released = datetime(album.year, rng.randrange(1, 5), rng.randrange(1, 28))
        common = {"artist_ids": [artist.id], "genre": artist.genre, "release_date": released}
        albums.append(models.Album.create_save(title=album.title, **common))
        for title in album.songs:
            song = models.Song.create_save(
                title=title,
                album_id=albums[-1].id,
                duration=durations.pop(),
                play_count=play_counts.pop(),
                **common,
            )
            songs.append(song)
    return songs, albums


def _fill_library(
    engine: Engine, rng: Random, person: Person, songs: list[Any], albums: list[Any]
) -> None:
    """Twenty-six library songs, twenty-three liked, four playlists of seven, and the rest."""
    library = rng.sample(songs, 26)
    for days, song in enumerate(library, start=20):
        engine.at(ago(days))
        engine.call("spotify", "add_song_to_library", person, song_id=song.id)
    liked = rng.sample(library, 12) + rng.sample(
        [song for song in songs if song not in library], 11
    )
    engine.at(ago(19))
    for song in liked:
        engine.call("spotify", "like_song", person, song_id=song.id)
    for song in rng.sample(library, 7):
        engine.call("spotify", "download_song", person, song_id=song.id)
    for album in rng.sample(albums, 4):
        engine.call("spotify", "add_album_to_library", person, album_id=album.id)
    for artist in rng.sample(engine.models.spotify.Artist.all(), 5):
        engine.call("spotify", "follow_artist", person, artist_id=artist.id)
    user = engine.user("spotify", person)
    for song in rng.sample([song for song in songs if song not in library], 8):
        engine.models.spotify.Recommendation.create_save(user_id=user.id, song_id=song.id)
    for place, title in enumerate(_PLAYLISTS):
        engine.at(ago(90 - place * 20))
        reply = engine.call(
            "spotify", "create_playlist", person, title=title, is_public=place % 2 == 1
        )
        for song in rng.sample(songs, 7):
            _add_to_playlist(engine, person, reply["playlist_id"], song.id)
    for song in rng.sample(library, 3):
        engine.call("spotify", "add_to_queue", person, song_id=song.id)


def _add_to_playlist(engine: Engine, person: Person, playlist_id: int, song_id: int) -> None:
    engine.call("spotify", "add_song_to_playlist", person, playlist_id=playlist_id, song_id=song_id)


def _fill_reviews(engine: Engine, rng: Random, songs: list[Any], albums: list[Any]) -> None:
    """Two reviews an album and one for half of the songs; ratings follow from them."""
    people = residents()
    for album in albums:
        for person in rng.sample(people, 2):
            engine.at(ago(rng.randrange(10, 60)))
            rating = rng.randrange(2, 6)
            engine.call(
                "spotify",
                "review_album",
                person,
                album_id=album.id,
                rating=rating,
                title=_REVIEW_TITLES[rating],
            )
    for song in rng.sample(songs, len(songs) // 2):
        engine.at(ago(rng.randrange(10, 60)))
        rating = rng.randrange(1, 6)
        engine.call(
            "spotify",
            "review_song",
            rng.choice(people),
            song_id=song.id,
            rating=rating,
            title=_REVIEW_TITLES[rating],
        )
