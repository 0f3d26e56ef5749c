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
    for person in listeners[:12]:
        for song in rng.sample(songs, 2):
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
    """Twenty-six library songs, fourteen liked, four playlists of seven, and the rest."""
    models, user = engine.models.spotify, engine.user("spotify", person)
    library = rng.sample(songs, 26)
    others = [song for song in songs if song not in library]
    rows = [{"user_id": user.id, "song_id": song.id} for song in library]
    for days, row in enumerate(rows, start=20):
        row["created_at"] = ago(days)
    engine.add(models.UserLibrarySong, rows)
    engine.at(ago(19))
    for song in rng.sample(library, 8) + rng.sample(others, 6):
        engine.call("spotify", "like_song", person, song_id=song.id)
    downloads = [{"user_id": user.id, "song_id": song.id} for song in rng.sample(library, 7)]
    engine.add(models.UserDownloadedSong, downloads)
    shelf = [{"user_id": user.id, "album_id": album.id} for album in rng.sample(albums, 4)]
    engine.add(models.UserLibraryAlbum, shelf)
    artists = rng.sample(models.Artist.all(), 5)
    engine.add(
        models.UserArtistFollowing,
        [{"user_id": user.id, "artist_id": artist.id} for artist in artists],
    )
    hints = [{"user_id": user.id, "song_id": song.id} for song in rng.sample(others, 8)]
    engine.add(models.Recommendation, hints)
    _fill_playlists(engine, rng, person, songs)
    for song in rng.sample(library, 3):
        engine.call("spotify", "add_to_queue", person, song_id=song.id)


def _fill_playlists(engine: Engine, rng: Random, person: Person, songs: list[Any]) -> None:
    for place, title in enumerate(_PLAYLISTS):
        engine.at(ago(90 - place * 20))
        is_public = place % 2 == 1
        reply = engine.call("spotify", "create_playlist", person, title=title, is_public=is_public)
        chosen = rng.sample(songs, 7)
        rows = [{"playlist_id": reply["playlist_id"], "song_id": song.id} for song in chosen]
        engine.add(engine.models.spotify.PlaylistSong, rows)


def _fill_reviews(engine: Engine, rng: Random, songs: list[Any], albums: list[Any]) -> None:
    """Two reviews an album and one for every third song; ratings follow from them."""
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
    for song in rng.sample(songs, len(songs) // 3):
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
