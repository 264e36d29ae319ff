/* A check, or another place in the program that can fail. */
struct lam_site {
    const char *place, *text;
    int error;
};

/* What makes an array: where it stands, and how many bytes an element has. */
struct lam_array_site {
    const char *place;
    int64_t each;
};

/* A function, and what is said where it fails. */
struct lam_code {
    int (*call)(struct lambada_context *, const union lambada_word *, union lambada_word *);
    const struct lam_site *sites;
    const struct lam_array_site *arrays;
};
