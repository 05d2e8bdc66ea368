//! Limits the number of connections: of all clients together, and of each client address.
//!
//! A connection beyond the limit must not wait in the system's accept queue, because a supervisor's
//! health probe would have to wait behind it. So the connection is accepted as a guest. A guest may
//! request the admin pages; other requests are refused with status 503. The number of guests is
//! limited too: if there is no place for a new guest, the connection of the oldest guest is closed.
//! So a probe is always answered if it sends its request as soon as it is connected.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroUsize;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Waker};

use parking_lot::Mutex;

/// The connection slots of a listener, which all its workers share. A slot is a place for one
/// connection within the limit.
pub(crate) struct ConnectionSlots {
    most: usize,
    max_per_address: Option<usize>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    all: usize,
    /// The number of connection slots in use, for each client address that uses any. The map
    /// stays empty if `max_per_address` is `None`.
    by_client: HashMap<IpAddr, usize>,
}

/// A connection slot (a place within the connection limit) that is in use. Dropping this value
/// makes the slot free again.
struct ConnectionSlot {
    places: Arc<ConnectionSlots>,
    client: Option<IpAddr>,
}

impl ConnectionSlots {
    /// Creates `most` connection slots: places for connections within the limit. A single client
    /// may take at most `max_per_address` of them, or all of them if `max_per_address` is `None`.
    pub(crate) fn new(most: NonZeroUsize, max_per_address: Option<NonZeroUsize>) -> Arc<Self> {
        let max_per_address = max_per_address.map(NonZeroUsize::get);
        Arc::new(Self { most: most.get(), max_per_address, held: Mutex::default() })
    }

    fn take(self: &Arc<Self>, peer: Option<IpAddr>) -> Option<ConnectionSlot> {
        let client = self.max_per_address.and(peer).and_then(client);
        let mut held = self.held.lock();
        if held.all >= self.most {
            return None;
        }
        if let Some(client) = client {
            let of_client = held.by_client.get(&client).copied().unwrap_or(0);
            if self.max_per_address.is_some_and(|most| of_client >= most) {
                return None;
            }
            held.by_client.insert(client, of_client + 1);
        }
        held.all += 1;
        Some(ConnectionSlot { places: Arc::clone(self), client })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut held = self.places.held.lock();
        held.all -= 1;
        let Some(client) = self.client else { return };
        if let Some(of_client) = held.by_client.get_mut(&client) {
            *of_client -= 1;
            if *of_client == 0 {
                held.by_client.remove(&client);
            }
        }
    }
}

/// Returns the address under which a client's connections are counted. For IPv6, this is the /64
/// network of the client, because providers give each customer at least one /64 network. Returns
/// `None` for a loopback address: its connections are not counted, because they may come from a
/// proxy on this machine, which connects for many clients.
fn client(peer: IpAddr) -> Option<IpAddr> {
    let peer = peer.to_canonical();
    let counted = match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => {
            let network = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
    };
    (!peer.is_loopback()).then_some(counted)
}

/// How a connection was admitted: with a slot (a place within the connection limit), or as a guest.
/// A guest is a connection beyond the limit, which may request only the admin pages.
pub(crate) struct Admission {
    places: Arc<ConnectionSlots>,
    peer: Option<IpAddr>,
    place: RefCell<Option<ConnectionSlot>>,
    is_evicted: Cell<bool>,
    /// The waker of a guest's task. A guest is a connection beyond the limit. When the guest is
    /// evicted, the waker wakes the task, and the task ends the connection.
    waker: RefCell<Option<Waker>>,
}

impl Admission {
    /// Whether the connection has a slot (a place within the connection limit). If it has none,
    /// first tries to take a free one.
    pub(crate) fn has_slot(&self) -> bool {
        let mut place = self.place.borrow_mut();
        if place.is_none() {
            *place = self.places.take(self.peer);
        }
        place.is_some()
    }

    /// Whether this connection was a guest (a connection beyond the limit) that a newer guest has
    /// replaced. If so, the connection must end.
    ///
    /// If the connection is a guest, also stores the waker of its task. The waker wakes the task
    /// when a newer guest replaces this guest.
    pub(crate) fn is_evicted(&self, context: &Context<'_>) -> bool {
        if self.place.borrow().is_none() {
            let mut waker = self.waker.borrow_mut();
            if !waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                *waker = Some(context.waker().clone());
            }
        }
        self.is_evicted.get()
    }

    fn evict(&self) {
        self.is_evicted.set(true);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

/// Decides for each new connection of one worker whether it gets a slot (a place within the
/// connection limit) or becomes a guest, which may request only the admin pages.
pub(crate) struct AdmissionControl {
    places: Arc<ConnectionSlots>,
    max_guests: usize,
    /// The guests of this worker (connections without a slot), the oldest first. A guest whose
    /// connection has ended, or that has got a slot since, is removed when the next guest arrives.
    guests: RefCell<VecDeque<Weak<Admission>>>,
}

impl AdmissionControl {
    /// Creates the admission control of one worker. The worker may have at most `max_guests`
    /// guests (connections without a slot) at the same time.
    pub(crate) fn new(places: Arc<ConnectionSlots>, max_guests: NonZeroUsize) -> Self {
        Self { places, max_guests: max_guests.get(), guests: RefCell::default() }
    }

    /// Admits a connection. If no slot (place within the connection limit) is free, the connection
    /// becomes a guest, which may request only the admin pages.
    pub(crate) fn admit(&self, peer: Option<IpAddr>) -> Rc<Admission> {
        let place = self.places.take(peer);
        let is_guest = place.is_none();
        let admission = Rc::new(Admission {
            places: Arc::clone(&self.places),
            peer,
            place: RefCell::new(place),
            is_evicted: Cell::new(false),
            waker: RefCell::default(),
        });
        if is_guest {
            self.receive(&admission);
        }
        admission
    }

    fn receive(&self, guest: &Rc<Admission>) {
        let mut guests = self.guests.borrow_mut();
        let is_guest =
            |guest: &Weak<Admission>| guest.upgrade().is_some_and(|it| it.place.borrow().is_none());
        guests.retain(is_guest);
        while guests.len() >= self.max_guests {
            if let Some(oldest) = guests.pop_front().and_then(|oldest| oldest.upgrade()) {
                oldest.evict();
            }
        }
        guests.push_back(Rc::downgrade(guest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(most: usize, max_per_address: Option<usize>) -> Arc<ConnectionSlots> {
        let number = |number| NonZeroUsize::new(number).unwrap();
        ConnectionSlots::new(number(most), max_per_address.map(number))
    }

    fn peer(address: &str) -> Option<IpAddr> {
        Some(address.parse().unwrap())
    }

    #[test]
    fn a_place_is_free_again_when_its_connection_has_ended() {
        let slots = slots(2, None);
        let held = [slots.take(peer("192.0.2.1")), slots.take(None)];
        assert!(held.iter().all(Option::is_some) && slots.take(None).is_none());
        drop(held);
        assert!(slots.take(None).is_some());
    }

    #[test]
    fn an_address_has_its_share_and_leaves_the_rest_to_others() {
        let slots = slots(100, Some(2));
        let held: Vec<_> = (0..5).map(|_| slots.take(peer("192.0.2.1"))).collect();
        assert_eq!(held.iter().flatten().count(), 2);
        assert!(slots.take(peer("192.0.2.2")).is_some());
        drop(held);
        assert!(slots.take(peer("192.0.2.1")).is_some());
        assert!(slots.held.lock().by_client.is_empty(), "who has left is still known");
    }

    #[test]
    fn a_network_of_ipv6_is_one_client_and_mapped_addresses_are_of_ipv4() {
        let slots = slots(100, Some(1));
        let _one = slots.take(peer("2001:db8:0:1::7")).unwrap();
        assert!(slots.take(peer("2001:db8:0:1:ffff::8")).is_none());
        assert!(slots.take(peer("2001:db8:0:2::7")).is_some());
        let _four = slots.take(peer("192.0.2.1")).unwrap();
        assert!(slots.take(peer("::ffff:192.0.2.1")).is_none());
    }

    #[test]
    fn connections_of_this_machine_are_a_proxys_and_have_no_share() {
        let slots = slots(100, Some(1));
        let addresses = ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"];
        let held: Vec<_> =
            addresses.iter().cycle().take(100).map(|it| slots.take(peer(it))).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(slots.take(peer("127.0.0.1")).is_none(), "they count in all");
    }

    #[test]
    fn a_guest_takes_a_place_that_has_become_free_and_the_oldest_makes_room_for_the_next() {
        let context = Context::from_waker(Waker::noop());
        let control = AdmissionControl::new(slots(1, None), NonZeroUsize::new(2).unwrap());
        let first = control.admit(None);
        let guests: Vec<_> = (0..3).map(|_| control.admit(None)).collect();
        assert!(first.has_slot() && guests.iter().all(|guest| !guest.has_slot()));
        let evicted: Vec<bool> = guests.iter().map(|guest| guest.is_evicted(&context)).collect();
        assert_eq!(evicted, [true, false, false]);
        drop(first);
        assert!(guests[1].has_slot() && !guests[2].has_slot());
        // `guests[1]` has a slot now, so it is not a guest any more. Closing its connection would
        // make no room for a new guest. So the connection of the next guest, `guests[2]`, is
        // closed.
        let others = [control.admit(None), control.admit(None)];
        assert!(!guests[1].is_evicted(&context) && guests[2].is_evicted(&context));
        assert!(others.iter().all(|guest| !guest.is_evicted(&context)));
    }
}
