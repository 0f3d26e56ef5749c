"""The fairness rules of the grade, one by one, on real worlds.

Each item below has a gold and programs that a fair grade must pass or fail. They all run in one process
of AppWorld's interpreter; then stock AppWorld grades from disk, in another, the states that they left.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.simulator.evolved_items.batch import borrow_world, job_of, run_batch
from tests.simulator.evolved_items.items import FOLDER, EvolvedItem

PREAMBLE = (FOLDER / "preamble.txt").read_text()
COMPLETE = "\napis.supervisor.complete_task()\n"


def make_item(
    name: str,
    instruction: str,
    setup: str,
    gold: str,
    passing: dict[str, str],
    failing: dict[str, str],
    end: str = COMPLETE,
    expects_answer: bool = False,
) -> EvolvedItem:
    """An item whose gold and programs all begin with `setup`; a program with its own end says so."""
    bodies = {"gold": gold, **passing, **failing}
    programs = {
        key: PREAMBLE + setup + body + ("" if "complete_task" in body else end)
        for key, body in bodies.items()
    }
    passes = frozenset({"gold", *passing})
    return EvolvedItem(
        name, "roommatesinternet", instruction, programs["gold"], expects_answer, programs, passes
    )


NOTES = make_item(
    "undone",
    'Make a note titled "Plan" with the tags home and fun.',
    'token = login("simple_note")\n'
    "def note(title):\n"
    "    found = apis.simple_note.search_notes(access_token=token, query=title)\n"
    "    found = next(row for row in found if row['title'] == title)\n"
    "    return apis.simple_note.show_note(access_token=token, note_id=found['note_id'])\n"
    "def make(**fields):\n"
    "    return apis.simple_note.create_note(access_token=token, **fields)['note_id']\n",
    'make(title="Plan", content="", tags=["home", "fun"])',
    {
        "list_in_other_order": 'make(title="Plan", content="", tags=["fun", "home"])',
        "made_and_deleted_first_so_ids_differ": (
            'apis.simple_note.delete_note(access_token=token, note_id=make(title="x", content="y"))\n'
            'make(title="Plan", content="", tags=["fun", "home"])'
        ),
        "old_row_deleted_and_made_again": (
            'make(title="Plan", content="", tags=["home", "fun"])\n'
            'old = note("Groceries")\n'
            "apis.simple_note.delete_note(access_token=token, note_id=old['note_id'])\n"
            "make(**{field: old[field] for field in ('title', 'content', 'tags', 'pinned')})"
        ),
        "old_row_changed_and_changed_back": (
            'make(title="Plan", content="", tags=["home", "fun"])\n'
            'old = note("Groceries")\n'
            "for pinned in (not old['pinned'], old['pinned']):\n"
            "    apis.simple_note.update_note(\n"
            "        access_token=token, note_id=old['note_id'], pinned=pinned)"
        ),
        "text_where_the_gold_has_none": 'make(title="Plan", content="My plan", tags=["home", "fun"])',
        "code_asked_for_by_mail": (
            'make(title="Plan", content="", tags=["home", "fun"])\n'
            "apis.simple_note.send_password_reset_code(email=me['email'])"
        ),
    },
    {
        "old_row_deleted_and_made_again_in_other_words": (
            'make(title="Plan", content="", tags=["home", "fun"])\n'
            'old = note("Groceries")\n'
            "apis.simple_note.delete_note(access_token=token, note_id=old['note_id'])\n"
            "make(title='Groceries', content='- salt', tags=old['tags'], pinned=old['pinned'])"
        ),
        "another_list": 'make(title="Plan", content="", tags=["home"])',
        "never_completed": 'make(title="Plan", content="", tags=["home", "fun"])  # no complete_task',
    },
)

TEXTS = make_item(
    "texts",
    "Write a note called Music report: how many songs my playlists hold, and the titles of the songs "
    "of my playlist Weekend.",
    'token, spotify = login("simple_note"), login("spotify")\n'
    "playlists = pages(apis.spotify.show_playlist_library, access_token=spotify)\n"
    "total = sum(len(row['song_ids']) for row in playlists)\n"
    "weekend = next(row['playlist_id'] for row in playlists if row['title'] == 'Weekend')\n"
    "weekend = apis.spotify.show_playlist(access_token=spotify, playlist_id=weekend)\n"
    "titles = [song['title'] for song in weekend['songs']]\n"
    "def report(text):\n"
    "    apis.simple_note.create_note(access_token=token, title='Music report', content=text)\n",
    "report(f'Songs in playlists: {total}\\n' + '\\n'.join(titles))",
    {
        "other_words": "report('Weekend has ' + ', '.join(sorted(titles)) + f'. All: {total}.0 songs.')",
        "numbered_list": (
            "lines = [f'{n}. {title}' for n, title in enumerate(titles, start=1)]\n"
            "report('\\n'.join(lines) + f'\\nTotal number: {total}')"
        ),
    },
    {
        "other_number": "report(f'Songs in playlists: {total + 1}\\n' + '\\n'.join(titles))",
        "name_missing": "report(f'Songs in playlists: {total}\\n' + '\\n'.join(titles[1:]))",
        "name_too_many": (
            "rest = pages(apis.spotify.show_song_library, access_token=spotify)\n"
            "extra = next(row['title'] for row in rest if row['title'] not in titles)\n"
            "report(f'Songs in playlists: {total}\\n' + '\\n'.join([*titles, extra]))"
        ),
    },
)

QUOTED = make_item(
    "quoted",
    'Comment "Thank you so much!" on the latest payment that I received on Venmo.',
    'token = login("venmo")\n'
    "rows = pages(apis.venmo.show_transactions, access_token=token, direction='received')\n"
    "latest = max(rows, key=lambda row: row['created_at'])['transaction_id']\n"
    "def comment(text):\n"
    "    return apis.venmo.create_transaction_comment(\n"
    "        access_token=token, transaction_id=latest, comment=text)['comment_id']\n",
    "comment('Thank you so much!')",
    {
        "case_and_spaces": "comment('thank you  SO much!')",
        "notifications_read": (
            "comment('Thank you so much!')\n"
            "apis.venmo.mark_notifications(access_token=token, read=True)"
        ),
        "wrong_then_right": (
            "apis.venmo.update_transaction_comment(\n"
            "    access_token=token, comment_id=comment('Thanks'), comment='Thank you so much!')"
        ),
    },
    {
        "other_words": "comment('Thank you very much!')",
        "twice": "comment('Thank you so much!')\n" * 2,
    },
)

NOTICES = make_item(
    "notices",
    "Mark all my Venmo notifications as read.",
    'token = login("venmo")\n',
    "apis.venmo.mark_notifications(access_token=token, read=True)",
    {},
    {"nothing": "", "deleted_instead": "apis.venmo.delete_notifications(access_token=token)"},
)

TITLES = make_item(
    "titles",
    'Rename my playlist "Weekend" to "Saturday" and my playlist "Road Songs" to "On the road".',
    'token = login("spotify")\n'
    "rows = pages(apis.spotify.show_playlist_library, access_token=token)\n"
    "ids = {row['title']: row['playlist_id'] for row in rows}\n"
    "def rename(old, new):\n"
    "    apis.spotify.update_playlist(access_token=token, playlist_id=ids[old], title=new)\n",
    "rename('Weekend', 'Saturday'); rename('Road Songs', 'On the road')",
    {
        "by_a_detour": "rename('Road Songs', 'x')\nrename('Weekend', 'Saturday')\n"
        "rename('Road Songs', 'On the road')"
    },
    {
        # The same two titles are gone and the same two are there, but on the wrong songs.
        "swapped": "rename('Weekend', 'On the road'); rename('Road Songs', 'Saturday')",
        "one_only": "rename('Weekend', 'Saturday')",
    },
)

QUEUE = make_item(
    "queue",
    "Add the songs Paper Kite and Chrome Sunday to my Spotify queue, in this order.",
    'token = login("spotify")\n'
    "def add(title):\n"
    "    found = apis.spotify.search_songs(query=title)\n"
    "    song = next(row['song_id'] for row in found if row['title'] == title)\n"
    "    apis.spotify.add_to_queue(access_token=token, song_id=song)\n",
    "add('Paper Kite'); add('Chrome Sunday')",
    {},
    {"other_order": "add('Chrome Sunday'); add('Paper Kite')"},
)

GROUPS = make_item(
    "groups",
    "Record in Splitwise, outside of groups, that I paid $58 for Tickets, shared by Tomas, Dayo and me.",
    'token = login("splitwise")\n'
    "people = [me['email'], 'tomas.reyes@example.com', 'dayo.okafor@example.com']\n"
    "def record(amount=58, **fields):\n"
    "    return apis.splitwise.record_expense(access_token=token, description='Tickets',\n"
    "        paid_amount=amount, payer_email=me['email'], debtor_emails=people, **fields)['expense_id']\n",
    "record()",
    {
        "soft_delete_takes_what_hangs_on_it": (
            "wrong = record(60)\n"
            "apis.splitwise.post_expense_comment(access_token=token, expense_id=wrong, comment='?')\n"
            "apis.splitwise.delete_expense(access_token=token, expense_id=wrong)\n"
            "record()"
        ),
        # As good a split as the engine's own, 19.33 for each.
        "split_by_hand_to_the_cent": "record(debt_amounts=[19.33, 19.34, 19.33])",
        "corrected_by_hand": (
            "apis.splitwise.update_expense(access_token=token, expense_id=record(60), paid_amount=58,\n"
            "    debtor_emails=people, debt_amounts=[19.33, 19.33, 19.34])"
        ),
    },
    {
        "deleted_at_last": "apis.splitwise.delete_expense(access_token=token, expense_id=record())",
        "shared_a_cent_unequally": "record(debt_amounts=[19.35, 19.33, 19.32])",
        "shares_of_another_amount": "record(debt_amounts=[19.34, 19.34, 19.34])",
        "shares_left_as_they_were": (
            "apis.splitwise.update_expense(\n"
            "    access_token=token, expense_id=record(58.05), paid_amount=58)"
        ),
    },
)

REMADE = make_item(
    "remade",
    'In Spotify, call my playlist "Weekend" "Saturday" and put the song Paper Kite on "Road Songs".',
    'token = login("spotify")\n'
    "rows = pages(apis.spotify.show_playlist_library, access_token=token)\n"
    "lists = {row['title']: row for row in rows}\n"
    "kite = next(row['song_id'] for row in apis.spotify.search_songs(query='Paper Kite')\n"
    "    if row['title'] == 'Paper Kite')\n"
    "def add(number, songs):\n"
    "    for song in songs:\n"
    "        apis.spotify.add_song_to_playlist(\n"
    "            access_token=token, playlist_id=number, song_id=song)\n"
    "def remake(old, title, songs):\n"
    "    apis.spotify.delete_playlist(access_token=token, playlist_id=lists[old]['playlist_id'])\n"
    "    new = apis.spotify.create_playlist(\n"
    "        access_token=token, title=title, is_public=lists[old]['is_public'])\n"
    "    add(new['playlist_id'], songs)\n"
    "def rename():\n"
    "    apis.spotify.update_playlist(\n"
    "        access_token=token, playlist_id=lists['Weekend']['playlist_id'], title='Saturday')\n"
    "weekend, road = lists['Weekend']['song_ids'], lists['Road Songs']['song_ids']\n",
    "rename(); add(lists['Road Songs']['playlist_id'], [kite])",
    {
        "made_again_with_one_more": "rename(); remake('Road Songs', 'Road Songs', [kite, *road])",
        "made_again_by_another_name": (
            "remake('Weekend', 'Saturday', weekend[::-1])\n"
            "add(lists['Road Songs']['playlist_id'], [kite])"
        ),
        "an_untouched_one_made_again": (
            "remake('Rainy Days', 'Rainy Days', lists['Rainy Days']['song_ids'])\n"
            "rename(); add(lists['Road Songs']['playlist_id'], [kite])"
        ),
    },
    {
        "made_again_with_one_less": "rename(); remake('Road Songs', 'Road Songs', [kite, *road[1:]])",
        "made_again_with_others": "rename(); remake('Road Songs', 'Road Songs', [kite, *weekend])",
        "an_untouched_one_made_again_with_one_less": (
            "remake('Rainy Days', 'Rainy Days', lists['Rainy Days']['song_ids'][1:])\n"
            "rename(); add(lists['Road Songs']['playlist_id'], [kite])"
        ),
        "made_again_with_the_songs_of_each_other": (
            "remake('Weekend', 'Saturday', road)\n"
            "remake('Road Songs', 'Road Songs', [kite, *weekend])"
        ),
    },
)

REUSED = make_item(
    "reused",
    'Delete my Todoist label "phone call", make a blue one "weekend", and give it to "Buy stamps".',
    'token = login("todoist")\n'
    "labels = pages(apis.todoist.search_labels, access_token=token)\n"
    "ids = {row['name']: row['label_id'] for row in labels}\n"
    "rows = pages(apis.todoist.show_projects, access_token=token)\n"
    "errands = next(row['project_id'] for row in rows if row['name'] == 'Errands')\n"
    "tasks = apis.todoist.show_tasks(access_token=token, project_id=errands)['no_section_tasks']\n"
    "stamps = next(row['task_id'] for row in tasks if row['title'] == 'Buy stamps')\n"
    "def give(label):\n"
    "    apis.todoist.add_label_to_task(access_token=token, task_id=stamps, label_id=label)\n",
    "apis.todoist.delete_label(access_token=token, label_id=ids['phone call'])\n"
    "give(apis.todoist.create_label(access_token=token, name='weekend', color='blue')['label_id'])",
    {
        "an_old_row_becomes_the_new_one": (
            "give(ids['phone call'])\n"
            "apis.todoist.update_label(\n"
            "    access_token=token, label_id=ids['phone call'], name='weekend', color='blue')"
        ),
    },
    {
        "another_old_row": (
            "give(ids['urgent'])\n"
            "apis.todoist.update_label(\n"
            "    access_token=token, label_id=ids['urgent'], name='weekend', color='blue')"
        ),
        "and_given_to_nothing": (
            "apis.todoist.update_label(\n"
            "    access_token=token, label_id=ids['phone call'], name='weekend', color='blue')"
        ),
    },
)

PIECES = make_item(
    "pieces",
    'Append the line "Paid in cash" to my gas bill for January 2023 in "~/bills/", and write the names of '
    'the files in "~/photos/lake/" to "~/lake.txt" in alphabetical order.',
    'token = login("file_system")\n'
    "bill = '~/bills/gas-2023-01.txt'\n"
    "old = apis.file_system.show_file(access_token=token, file_path=bill)['content']\n"
    "def names(folder):\n"
    "    rows = apis.file_system.show_directory(access_token=token, directory_path=folder)\n"
    "    return sorted(row.split('/')[-1] for row in rows)\n"
    "def write(bill_text, list_text):\n"
    "    apis.file_system.update_file(access_token=token, file_path=bill, content=bill_text)\n"
    "    apis.file_system.create_file(\n"
    "        access_token=token, file_path='~/lake.txt', content=list_text)\n"
    "files = names('~/photos/lake/')\n",
    "write(old + '\\nPaid in cash', '\\n'.join(files))",
    {"in_other_words": "write(old + '\\n\\nPaid  in cash.', ', '.join(files))"},
    {
        "other_words_than_the_quoted": "write(old + '\\nPaid by card', '\\n'.join(files))",
        "a_line_lost": "write(old.split('\\n', 1)[1] + '\\nPaid in cash', '\\n'.join(files))",
        "other_files": "write(old + '\\nPaid in cash', '\\n'.join(names('~/photos/seaside/')))",
        "other_order": "write(old + '\\nPaid in cash', '\\n'.join(files[::-1]))",
    },
)

LISTED = (
    'token, spotify = login("simple_note"), login("spotify")\n'
    "rows = pages(apis.simple_note.search_notes, access_token=token)\n"
    "number = next(row['note_id'] for row in rows if row['title'] == 'Groceries')\n"
    "old = apis.simple_note.show_note(access_token=token, note_id=number)['content']\n"
    "lines = old.split('\\n')\n"
    "def write(text):\n"
    "    apis.simple_note.update_note(access_token=token, note_id=number, content=text)\n"
    "def add(text, side):\n"
    "    apis.simple_note.add_content_to_note(\n"
    "        access_token=token, note_id=number, added_content=text, append_or_prepend=side)\n"
    "rows = pages(apis.spotify.show_playlist_library, access_token=spotify)\n"
    "weekend = next(row['playlist_id'] for row in rows if row['title'] == 'Weekend')\n"
    "weekend = apis.spotify.show_playlist(access_token=spotify, playlist_id=weekend)\n"
    "titles = [song['title'] for song in weekend['songs']]\n"
    "assert len(lines) > 2 and len(titles) > 1\n"
)

ON_TOP = make_item(
    "ontop",
    'Put the line "- candles" at the top of my note "Groceries".',
    LISTED,
    "write('- candles\\n' + old)",
    {
        "by_another_api": "add('- candles\\n', 'prepend')",
        "with_a_blank_line": "write('- Candles\\n\\n' + old)",
    },
    {
        "at_the_bottom": "write(old + '\\n- candles')",
        "after_the_first_line": "write('\\n'.join([lines[0], '- candles', *lines[1:]]))",
        "in_the_place_of_the_first_line": "write('\\n'.join(['- candles', *lines[1:]]))",
    },
)

AT_THE_END = make_item(
    "attheend",
    'Append the titles of the songs of my playlist Weekend to my note "Groceries".',
    LISTED,
    "write(old + '\\n' + '\\n'.join(titles))",
    {"titles_in_other_order": "add('\\n' + ', '.join(titles[::-1]), 'append')"},
    {
        "on_top": "write('\\n'.join(titles) + '\\n' + old)",
        "one_on_top": "write('\\n'.join([titles[0], old, *titles[1:]]))",
    },
)

ANYWHERE = make_item(
    "anywhere",
    'Add the line "- candles" to my note "Groceries".',
    LISTED,
    "write(old + '\\n- candles')",
    {"on_top": "write('- candles\\n' + old)"},
    {"other_line": "write(old + '\\n- candy')"},
)

ATTACHED = make_item(
    "attached",
    'Mail my gas bill for January 2023 in "~/bills/" to Tomas as an attachment, with the subject "Bill" '
    'and the text "Please check.".',
    'token, files = login("gmail"), login("file_system")\n'
    "to, path = ['tomas.reyes@example.com'], '~/bills/gas-2023-01.txt'\n"
    "words = {'subject': 'Bill', 'body': 'Please check.'}\n"
    "def send(**fields):\n"
    "    apis.gmail.send_email(access_token=token, email_addresses=to, **words, **fields)\n"
    "def draft(*paths):\n"
    "    number = apis.gmail.create_draft(\n"
    "        access_token=token, recipient_email_addresses=to, **words)['draft_id']\n"
    "    for path in paths:\n"
    "        apis.gmail.upload_attachments_to_draft(access_token=token, draft_id=number,\n"
    "            attachment_file_paths=[path], file_system_access_token=files)\n"
    "    apis.gmail.send_email_from_draft(\n"
    "        access_token=token, draft_id=number, file_system_access_token=files)\n",
    "send(attachment_file_paths=[path], file_system_access_token=files)",
    # The engine never tells the thread of a sent draft that it has attachments.
    {"by_a_draft": "draft(path)"},
    {
        "nothing_attached": "send()",
        "nothing_attached_to_the_draft": "draft()",
        "another_file": "draft('~/bills/gas-2023-02.txt')",
        "two_files": "draft(path, '~/bills/gas-2023-02.txt')",
    },
)

MESSAGES = make_item(
    "messages",
    'Leave Tomas the voice message "Call me" and text him "Ping" twice.',
    'token = login("phone")\n'
    "to = {'access_token': token, 'phone_number': '2065550101'}\n"
    "def text():\n"
    "    return apis.phone.send_text_message(message='Ping', **to)['text_message_id']\n"
    "def call():\n"
    "    sent = apis.phone.send_voice_message(message='Call me', **to)\n"
    "    return sent['voice_message_id']\n",
    "call(); text(); text()",
    {
        "a_reminder_set_and_taken_back": (
            "alarm = apis.phone.create_alarm(access_token=token, time='10:00', label='Call')\n"
            "text(); call(); text()\n"
            "apis.phone.delete_alarm(access_token=token, alarm_id=alarm['alarm_id'])"
        ),
    },
    {
        # What was sent stays with its receiver, whatever the sender deletes on the own phone.
        "a_text_too_many_deleted_on_the_own_phone": (
            "call(); text(); text()\n"
            "apis.phone.delete_text_message(access_token=token, text_message_id=text())"
        ),
        "a_voice_message_too_many_deleted_on_the_own_phone": (
            "call(); text(); text()\n"
            "apis.phone.delete_voice_message(access_token=token, voice_message_id=call())"
        ),
    },
)

CARDS = make_item(
    "cards",
    "Add $50 to my Venmo balance.",
    'token = login("venmo")\n'
    "cards = [c['payment_card_id'] for c in apis.venmo.show_payment_cards(access_token=token)]\n"
    "def add(card, amount=50):\n"
    "    apis.venmo.add_to_venmo_balance(access_token=token, amount=amount, payment_card_id=card)\n",
    "add(cards[0])",
    {"another_card": "add(cards[1])"},
    {"another_amount": "add(cards[0], 40)"},
)

NAMED_CARD = make_item(
    "namedcard",
    "Add $50 to my Venmo balance from the card that I added first.",
    CARDS.attacks["gold"].removeprefix(PREAMBLE).removesuffix("add(cards[0])" + COMPLETE),
    "add(cards[0])",
    {},
    {"another_card": "add(cards[1])"},
)

ORDER = make_item(
    "order",
    "Add the tasks Paint and Sand to my project Errands in Todoist.",
    'token = login("todoist")\n'
    "rows = pages(apis.todoist.show_projects, access_token=token)\n"
    "errands = next(row['project_id'] for row in rows if row['name'] == 'Errands')\n"
    "def add(title, **fields):\n"
    "    apis.todoist.create_task(\n"
    "        access_token=token, project_id=errands, title=title, **fields)\n",
    "add('Paint'); add('Sand')",
    {"other_order": "add('Sand'); add('Paint')"},
    {"one_only": "add('Sand')"},
)

ASKED_ORDER = make_item(
    "askedorder",
    "Add the task Paint to my project Errands in Todoist, at the very top.",
    ORDER.attacks["gold"]
    .removeprefix(PREAMBLE)
    .removesuffix("add('Paint'); add('Sand')" + COMPLETE),
    "add('Paint', order_index=0)",
    {},
    {"at_the_end": "add('Paint')"},
)

REPLIES = make_item(
    "replies",
    'Reply "Yes" and then, in a mail of its own, "Really" to the mail Spare key in my inbox.',
    'token = login("gmail")\n'
    "rows = pages(apis.gmail.show_inbox_threads, access_token=token, query='Spare key')\n"
    "thread = next(row['email_thread_id'] for row in rows if row['subject'] == 'Spare key')\n"
    "mails = apis.gmail.show_thread(access_token=token, email_thread_id=thread)['emails']\n"
    "def reply(text):\n"
    "    apis.gmail.reply_to_email(access_token=token, email_thread_id=thread,\n"
    "        email_id=mails[0]['email_id'], body=text)\n",
    "reply('Yes'); reply('Really')",
    {"other_order": "reply('Really'); reply('Yes')"},
    {"one_only": "reply('Yes')", "one_twice": "reply('Yes'); reply('Yes')"},
)


def answered(answer: str) -> str:
    """A program that only gives an answer."""
    return f"apis.supervisor.complete_task(answer={answer})\n"


AMOUNT = make_item(
    "amount",
    "How much is my half of $121?",
    "",
    answered("60.5"),
    {"as_text": answered("'60.50'")},
    {"other": answered("60.05"), "none": COMPLETE, "with_a_sign": answered("'$60.5'")},
    expects_answer=True,
)

NAMES = make_item(
    "names",
    "Who are my roommates?",
    "",
    answered("'Tomas, Priya, Dayo'"),
    {"case_and_spaces": answered("'tomas,Priya ,dayo'")},
    {
        "missing": answered("'Tomas, Priya'"),
        "and_a_write": "apis.phone.create_alarm(access_token=login('phone'), time='10:00')\n"
        + answered("'Tomas, Priya, Dayo'"),
    },
    expects_answer=True,
)

LINES = make_item(
    "lines",
    "Text Tomas a poem of two lines.",
    'token = login("phone")\ntext = """Roses are red,\n  violets are blue."""\n',
    "apis.phone.send_text_message(access_token=token, phone_number='2065550101', message=text)",
    {},
    {
        "to_another": "apis.phone.send_text_message(\n"
        "    access_token=token, phone_number='2065550102', message=text)",
        "an_answer_unasked": "apis.phone.send_text_message(access_token=token,"
        " phone_number='2065550101', message=text)\n" + answered("'done'"),
    },
)

ITEMS = (
    *(NOTES, TEXTS, QUOTED, NOTICES, TITLES, QUEUE, GROUPS, CARDS, NAMED_CARD),
    *(ORDER, ASKED_ORDER, REPLIES, AMOUNT, NAMES, LINES, REMADE, REUSED, PIECES),
    *(ON_TOP, AT_THE_END, ANYWHERE, ATTACHED, MESSAGES),
)
CASES = [(item, attack) for item in ITEMS for attack in item.attacks]
Graded = dict[tuple[str, str], dict]


@pytest.fixture(scope="module")
def root(
    appworld_python: Path, appworld_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An APPWORLD_ROOT with room for all items of this module."""
    return borrow_world(appworld_home, tmp_path_factory.mktemp("grading"))


@pytest.fixture(scope="module")
def graded(root: Path, appworld_python: Path) -> Graded:
    """Our outcome of every case."""
    results = run_batch(appworld_python, root, "ours", job_of(ITEMS))
    return {(case["item"], case["name"]): case for case in results}


@pytest.fixture(scope="module")
def from_disk(root: Path, appworld_python: Path, graded: Graded) -> Graded:
    """Stock AppWorld's result of every case, from the state that our run left on disk."""
    results = run_batch(appworld_python, root, "disk", job_of(ITEMS))
    return {(case["item"], case["name"]): case for case in results}


@pytest.mark.parametrize(
    ("item", "attack"), CASES, ids=[f"{item.name}-{attack}" for item, attack in CASES]
)
def test_rule_of_fairness(graded: Graded, item: EvolvedItem, attack: str) -> None:
    seen = graded[item.name, attack]
    assert "Execution failed" not in seen["output"]
    assert seen["solved"] == (attack in item.passing), seen["difference"]


def test_stock_from_disk_agrees_in_every_case(graded: Graded, from_disk: Graded) -> None:
    assert from_disk.keys() == graded.keys()
    for case, seen in graded.items():
        failed = {test["requirement"] for test in seen["tests"] if not test["passed"]}
        assert from_disk[case]["solved"] == seen["solved"], case
        assert set(from_disk[case]["failures"]) == failed, case


def test_never_completing_is_told_from_failing(graded: Graded) -> None:
    assert not graded["undone", "never_completed"]["completed"]
    answer = graded["undone", "never_completed"]["difference"]["answer"]
    assert answer == {"expected": None, "given": "<<NOT_GIVEN>>"}
    assert graded["undone", "another_list"]["completed"]


def test_difference_names_the_entity_and_hides_ids_of_new_rows(graded: Graded) -> None:
    difference = graded["lines", "to_another"]["difference"]
    (missing,) = [e for e in difference["missing"] if e["table"] == "GlobalTextMessage"]
    (unexpected,) = [e for e in difference["unexpected"] if e["table"] == "GlobalTextMessage"]
    assert missing.keys() == {"app", "table", "change", "row", "content", "before", "references"}
    assert missing["app"] == "phone" and missing["change"] == "added" and missing["row"] is None
    assert set(missing["references"]) == {"sender_id", "receiver_id"}
    assert "2065550101" in missing["content"]["receiver_id"]
    assert "2065550102" in unexpected["content"]["receiver_id"]
    assert missing["content"]["message"] == unexpected["content"]["message"]


def test_difference_shows_a_changed_row_before_and_after(graded: Graded) -> None:
    (missing,) = graded["titles", "one_only"]["difference"]["missing"]
    assert missing["change"] == "changed" and isinstance(missing["row"], int)
    assert missing["before"] == {"title": "Road Songs"}
    assert missing["content"] == {"title": "On the road"}


def test_task_directories_stand_alone_and_carry_the_canary(root: Path, graded: Graded) -> None:
    for item in ITEMS:
        folder = root / "data" / "tasks" / f"{item.name}_1" / "ground_truth"
        for name in ("evaluation.py", "solution.py", "compiled_solution.py"):
            assert (folder / name).read_text().startswith("# Canary String: ")
        assert "from grading" not in (folder / "evaluation.py").read_text()
        labels = {test["label"] for test in json.loads((folder / "test_data.json").read_text())}
        assert labels == {"no_op_pass", "no_op_fail"}
        assert not list(folder.parent.glob(".*"))


def test_stock_verifies_items_in_full_mode(
    root: Path, appworld_python: Path, graded: Graded
) -> None:
    check_by_stock(root, appworld_python, ITEMS[::6])


@pytest.mark.endurance
def test_stock_verifies_all_items_in_full_mode(
    root: Path, appworld_python: Path, graded: Graded
) -> None:
    check_by_stock(root, appworld_python, ITEMS)


def check_by_stock(root: Path, appworld_python: Path, items: Sequence[EvolvedItem]) -> None:
    """`appworld verify tasks` opens each in full mode, runs the compiled solution, and evaluates."""
    datasets = root / "data" / "datasets"
    datasets.mkdir(exist_ok=True)
    (datasets / "train.txt").write_text("".join(f"{item.name}_1\n" for item in items))
    (datasets / "dev.txt").write_text("")
    done = subprocess.run(
        [str(appworld_python), "-W", "ignore", "-m", "appworld.cli", "verify", "tasks"],
        cwd=root,  # the command takes its root from here, not from the environment
        env={"PATH": os.environ["PATH"], "HOME": str(root), "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert f"Passed {len(items)}/{len(items)} tasks." in done.stdout, done.stdout + done.stderr
