"""The Merkle tree of RFC 6962: roots while it grows, and inclusion and consistency proofs."""

import hashlib

EMPTY = hashlib.sha256(b"").digest()


def leaf_hash(leaf):
    return hashlib.sha256(b"\x00" + leaf).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree whose leaves can be added and replaced; a last node without a sibling moves up."""

    def __init__(self):
        self.levels = [[]]

    def set(self, index, leaf):
        """Puts a leaf at a place up to the end."""
        value = leaf_hash(leaf)
        for depth in range(64):
            level = self.levels[depth]
            level[index:index + 1] = [value]
            if len(level) == 1:
                return
            if depth + 1 == len(self.levels):
                self.levels.append([])
            index //= 2
            left, right = level[2 * index], level[2 * index + 1:2 * index + 2]
            value = node_hash(left, right[0]) if right else left

    def __len__(self):
        return len(self.levels[0])

    def root(self):
        return self.levels[-1][0] if self.levels[0] else EMPTY


def includes(index, size, leaf, proof, root):
    """Whether the proof shows the leaf at this place in the tree (RFC 9162, 2.1.3.2)."""
    if index >= size:
        return False
    place, last, value = index, size - 1, leaf_hash(leaf)
    for step in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            value = node_hash(step, value)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            value = node_hash(value, step)
        place, last = place >> 1, last >> 1
    return last == 0 and value == root


def is_consistent(old, new, old_root, new_root, proof):
    """Whether the proof shows that the new tree begins with the old one (RFC 9162, 2.1.4.2)."""
    if not 0 < old <= new:
        return False
    if old == new:
        return not proof and old_root == new_root
    steps = list(proof) if old & (old - 1) else [old_root, *proof]
    if len(steps) == 0:
        return False
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    first = second = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            first, second = node_hash(step, first), node_hash(step, second)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            second = node_hash(second, step)
        place, last = place >> 1, last >> 1
    return last == 0 and first == old_root and second == new_root
