enum { SLOTS = 2 };
int pool_take(void);           /* a slot that is free, or -1 */
void pool_give(int slot);
