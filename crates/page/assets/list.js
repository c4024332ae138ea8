// The list of findings: which one is shown, and which ones are listed.

class List {
  /** `show` is called with the number of the finding to show, from zero, or null. */
  constructor(show) {
    this.show = show;
    this.items = [...document.querySelectorAll("#list > li")];
    this.articles = [...document.querySelectorAll("article.finding")];
    this.isListed = this.articles.map(() => true);
    this.filters = { verdict: "", variable: "", thread: "" };
    if (this.items.length > 0) this.offerFilters();
  }

  offerFilters() {
    const counted = new Map();
    const select = (what, label, values) => {
      const made = el("select", { id: `filter-${what}` }, el("option", { value: "" }, "all"));
      for (const [value, text] of values) made.append(el("option", { value }, shortened(text, 40)));
      made.addEventListener("change", () => {
        this.filters[what] = made.value;
        this.apply();
      });
      counted.set(what, made);
      return el("div", { class: "filter" }, el("label", { for: `filter-${what}` }, label), made);
    };
    const unique = (numbers) => [...new Set(numbers)].map((number) => [number, nameOf(number)]).sort((one, other) => compareNames(one[1], other[1]));
    const verdicts = [...new Set(DATA.findings.map((finding) => finding.verdict))].map((verdict) => [verdict, verdict]);
    this.status = el("p", { class: "quiet", role: "status" });
    document.getElementById("filters").append(
      select("verdict", "Verdict", verdicts),
      select("variable", "Variable", unique(DATA.findings.map((finding) => finding.variable))),
      select("thread", "Thread", unique(DATA.findings.flatMap((finding) => finding.threads))),
      this.status,
    );
    this.tell();
  }

  /** Lists what the filters let through, and shows one of them. */
  apply() {
    const { verdict, variable, thread } = this.filters;
    DATA.findings.forEach((finding, number) => {
      const fits =
        (verdict === "" || finding.verdict === verdict) &&
        (variable === "" || finding.variable === Number(variable)) &&
        (thread === "" || finding.threads.includes(Number(thread)));
      this.isListed[number] = fits;
      this.items[number].hidden = !fits;
    });
    this.tell();
    if (!this.isListed[this.current]) this.select(this.isListed.indexOf(true));
  }

  tell() {
    const listed = this.isListed.filter(Boolean).length;
    this.status.textContent = `${listed} of ${this.articles.length} listed`;
  }

  /** Shows one finding; -1 shows none. */
  select(number) {
    this.current = number;
    this.articles.forEach((article, at) => (article.hidden = at !== number));
    this.items.forEach((item, at) => {
      const link = item.firstElementChild;
      if (at === number) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    document.getElementById("nothing").hidden = number >= 0 || this.articles.length === 0;
    this.show(number >= 0 ? number : null);
  }

  /** The next listed finding, or the one before. */
  neighbour(direction) {
    for (let at = this.current + direction; at >= 0 && at < this.articles.length; at += direction) {
      if (this.isListed[at]) {
        location.hash = `f${at + 1}`;
        this.items[at].scrollIntoView({ block: "nearest" });
        return;
      }
    }
  }

  /** The finding that the address names, or the first. */
  fromAddress() {
    const number = Number(/^#f([0-9]+)$/.exec(location.hash)?.[1] ?? 1) - 1;
    return number >= 0 && number < this.articles.length ? number : 0;
  }
}
