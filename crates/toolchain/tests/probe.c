/*
 * Nine shapes in which compilers merge, move or drop memory accesses before they instrument them.
 *
 * The comment on each function says which accesses the source has, 25 in all; `tests/probe.rs` counts how many
 * calls into the runtime are left of them. The variables are external, so that nothing may be concluded
 * from never seeing them written.
 */

struct pair {
    long left, right, more[2];
};

extern int balance, limit, state, table[8];
extern struct pair source, target;

/* read, write: clang takes the read for granted */
void withdraw(int amount) { balance -= amount; }

/* read, read: common subexpression */
int read_twice(int factor) { return balance + factor * balance; }

/* read, read, write: check then act over three blocks */
void check_then_act(int amount)
{
    if (balance < amount)
        return;
    if (limit)
        balance = amount;
}

/* write, write: the first is dead */
void store_twice(int value)
{
    state = value;
    state = value + 1;
}

/* a write before the loop; in it two reads and a write: invariant, and carried from one round to the next */
void sum_in_loop(int rounds)
{
    state = 0;
    for (int i = 0; i < rounds; i++)
        state += balance;
}

/* a read of a whole, a read of a part of the other, a write of that whole: scalar replacement */
void copy_struct(void)
{
    struct pair copy = source;
    copy.left += target.left;
    target = copy;
}

/* read, write, read: the second read sees what was written */
int initialise_once(void)
{
    if (state == 0)
        state = 7;
    return state;
}

/* in each arm a read: one after the merge would do; then a write */
void merge_arms(int which)
{
    int seen;
    if (which)
        seen = balance + 1;
    else
        seen = balance + 2;
    limit = seen;
}

/* three neighbours: a wide store would do */
void store_neighbours(void)
{
    table[0] = 1;
    table[1] = 2;
    table[2] = 3;
}
