//! A queue with a maximum length, in which tenants take turns. A tenant adds items to the queue;
//! for example, each account is a tenant.
//!
//! Each tenant has its own queue, and each turn removes the oldest item of one tenant. So a tenant
//! with one item waits for at most one item of each other tenant. When all queues together have
//! reached the maximum length, a tenant with few items may still add an item. Then the newest item
//! of the tenant with the most items is removed to make room.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A queue of items `T` with a maximum length, in which tenants `K` take turns.
#[derive(Debug)]
pub(crate) struct FairQueue<K, T> {
    /// The items of each tenant, oldest first. Tenants without items have no entry.
    items: FxHashMap<K, VecDeque<T>>,
    /// The tenants that have items, in the order of their turns. Each tenant is in the list once.
    turns: VecDeque<K>,
    length: usize,
    limits: QueueLimits,
}

/// The limits of a [`FairQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueLimits {
    /// Maximum number of items of all tenants together.
    pub(crate) total: usize,
    /// Maximum number of items of one tenant.
    pub(crate) per_tenant: usize,
}

/// The result of [`FairQueue::push`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pushed<T> {
    /// The item is in the queue.
    Queued,
    /// The new item is in the queue. To make room, an item of another tenant was removed. The value
    /// is the removed item.
    Displaced(T),
    /// The item was not added. Either its tenant has the maximum number of items, or the queue is
    /// full and no tenant has at least two items more than this tenant. The value is the refused
    /// item.
    Refused(T),
}

impl<K: Copy + Eq + Hash, T> FairQueue<K, T> {
    /// Creates an empty queue.
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self { items: FxHashMap::default(), turns: VecDeque::new(), length: 0, limits }
    }

    /// Returns how many items of a tenant are in the queue.
    pub(crate) fn waiting(&self, tenant: K) -> usize {
        self.items.get(&tenant).map_or(0, VecDeque::len)
    }

    /// Adds an item at the end of its tenant's queue.
    pub(crate) fn push(&mut self, tenant: K, item: T) -> Pushed<T> {
        let own = self.waiting(tenant);
        if own >= self.limits.per_tenant {
            return Pushed::Refused(item);
        }
        let displaced = if self.length < self.limits.total {
            None
        } else {
            match self.displace(own) {
                Some(displaced) => Some(displaced),
                None => return Pushed::Refused(item),
            }
        };
        self.length += 1;
        self.items.entry(tenant).or_default().push_back(item);
        if own == 0 {
            self.turns.push_back(tenant);
        }
        displaced.map_or(Pushed::Queued, Pushed::Displaced)
    }

    /// Removes and returns the next item; `None` if the queue is empty.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let tenant = self.turns.pop_front()?;
        let own = self.items.get_mut(&tenant)?;
        let item = own.pop_front()?;
        if own.is_empty() {
            self.items.remove(&tenant);
        } else {
            self.turns.push_back(tenant);
        }
        self.length -= 1;
        Some(item)
    }

    /// Makes room for a new item of a tenant that has `own` items: removes and returns the newest
    /// item of the tenant with the most items. Returns `None` and removes nothing if no tenant has
    /// at least `own + 2` items.
    ///
    /// With only `own + 1` items, nothing would be fairer afterwards: two tenants with 1 and 2
    /// items would then have 2 and 1 items.
    fn displace(&mut self, own: usize) -> Option<T> {
        let longest = self.items.values_mut().max_by_key(|items| items.len())?;
        if longest.len() < own + 2 {
            return None;
        }
        let displaced = longest.pop_back()?;
        self.length -= 1;
        Some(displaced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(total: usize, per_tenant: usize) -> FairQueue<char, u32> {
        FairQueue::new(QueueLimits { total, per_tenant })
    }

    #[test]
    fn a_tenant_with_one_item_waits_for_one_item_of_each_other_tenant() {
        let mut queue = queue(100, 50);
        for number in 0..40 {
            assert_eq!(queue.push('a', number), Pushed::Queued);
            assert_eq!(queue.push('b', 100 + number), Pushed::Queued);
        }
        assert_eq!(queue.push('v', 999), Pushed::Queued);
        let next: Vec<u32> = (0..4).filter_map(|_| queue.pop()).collect();
        assert_eq!(next, [0, 100, 999, 1]);
    }

    #[test]
    fn a_tenant_has_a_share_and_is_refused_beyond_it() {
        let mut queue = queue(100, 2);
        assert_eq!(queue.push('a', 1), Pushed::Queued);
        assert_eq!(queue.push('a', 2), Pushed::Queued);
        assert_eq!(queue.push('a', 3), Pushed::Refused(3));
        assert_eq!(queue.push('b', 4), Pushed::Queued);
    }

    #[test]
    fn a_full_queue_takes_the_newest_item_of_the_longest_queue_out() {
        let mut queue = queue(4, 4);
        for number in 1..=3 {
            queue.push('a', number);
        }
        queue.push('b', 10);
        assert_eq!(queue.push('v', 20), Pushed::Displaced(3));
        // The queue is full, and tenant `b` has one item. Its second item could only replace an
        // item of a tenant with at least three items. No tenant has more than two, so the second
        // item of `b` is refused.
        assert_eq!(queue.push('b', 11), Pushed::Refused(11));
        let all: Vec<u32> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(all, [1, 10, 20, 2]);
        assert_eq!(queue.push('a', 1), Pushed::Queued);
        assert_eq!(queue.waiting('a'), 1);
    }
}
