"""The small world: thirty people, their accounts in nine apps, and what they have done there so far.

It stands still on Thursday, 2023-05-18, at noon. Three more people (Priya Castellan, Lucas Ferrand, Owen
Brandt) have accounts and share a first name with a resident. Whoever writes items can count on this for
each of the six supervisors (people.SUPERVISORS):

- *phone*: 20 to 23 contacts with mail address, number, birthday, home and work address and their
  relationships: 3 roommates, 2 parents ("mother", "father"), 1 or 2 siblings ("brother", "sister"), 6
  or 7 coworkers, one manager, 12 or more friends, one to three of them namesakes of another contact or
  resident. Some are two things at once (sibling and coworker, roommate and coworker, manager and mother).
  A text from each roommate and each namesake says "I paid for <thing>. Your part is $<n>, no rush.".
  30 or more texts, 3 voice messages, 5 alarms (one of them off).
- *venmo*: an account for every contact, all but parents, manager and coworkers as Venmo friends; a
  balance of more than $1,500; more than 26 payments, about half of them received; 7 or more pending
  requests received, one from each roommate; 3 or more pending requests sent.
- *splitwise*: two groups, "<street> Flat" with the roommates (8 expenses, "Groceries" three times) and
  a trip with four friends (4 expenses), shared equally and not settled; three debts outside of groups.
- *todoist*: Inbox (6 tasks), "Errands" (8), "Work" (5, and 3 in the section "Later"), all with due dates
  (some overdue, one today or soon) and priorities, a quarter done; labels "urgent" and "phone call"; a
  shared project "<street> chores" with 8 assigned tasks.
- *simple_note*: 26 notes: "Groceries", "Movies to watch", "Books to read", "Party guests" (full names of
  4 friends), "Songs to add" (5 titles), "Gift ideas", one entry a line after "- "; and "Training
  <YYYY-MM-DD>" for the last 20 days ("Exercise: rowing", "Minutes: 40"), tagged "training".
- *spotify*: 26 songs and 4 albums in the library, 14 liked songs, 7 downloaded, 5 artists followed, 8
  recommendations, 3 songs in the queue; playlists "Morning Coffee", "Weekend", "Road Songs" and "Rainy
  Days" of 7 songs each. No two songs have the same play count, title or duration.
- *file_system*: "~/bills/<electricity|internet|water|gas>-2023-<01..04>.txt" with "Total amount: $<n>"
  (divisible by 4), "~/documents/receipts/receipt-<date>.txt" with "Paid: $<n>" (5), "~/photos/<lake|
  mountains|seaside>/" (4 each), "~/downloads/" with .tmp, .pdf, .jpg and .txt files and a subfolder.
- *gmail*: 23 or more inbox threads, about 10 of them unread, some starred, some labelled "keep"; 10 or more
  sent; company mails by the manager, mails of the flat, of the family and of friends.
- *amazon*: 3 orders of two products each (the last one underway), 6 products on the wish list, 2 in the
  cart, two payment cards, the addresses "Home" and "Work"; every other supervisor has Prime. There are
  42 products of 14 types from 6 sellers, and the carriers UPS, USPS and FedEx.
"""
