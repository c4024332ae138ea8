// The page is readable as it is; this makes it one that can be stepped through.

document.documentElement.classList.add("scripted");

const stage = DATA.findings.some((finding) => finding.observed || finding.witness) ? new Stage() : null;

const list = new List((number) => {
  const finding = number === null ? null : DATA.findings[number];
  const hasLanes = stage !== null && finding !== null && (finding.observed || finding.witness);
  if (hasLanes) stage.show(finding, document.getElementById(`f${number + 1}-stage`));
  else stage?.root.remove();
});

if (list.articles.length > 0) {
  list.select(list.fromAddress());
  window.addEventListener("hashchange", () => {
    if (!/^#f[0-9]+$/.test(location.hash)) return;
    list.select(list.fromAddress());
    list.articles[list.current].scrollIntoView({ block: "start" });
  });
}

for (const command of document.querySelectorAll(".replay .command")) {
  const said = el("span", { class: "said", role: "status" });
  const button = el("button", { type: "button", class: "copy" }, "Copy");
  button.setAttribute("aria-label", `Copy the command ${command.textContent}`);
  button.addEventListener("click", async () => {
    const isCopied = await copyText(command.textContent, command);
    said.textContent = isCopied ? "copied" : "selected: press Ctrl+C";
  });
  command.after(button, said);
}

document.addEventListener("keydown", (press) => {
  const inField = press.target.matches("input:not([type=range]):not([type=radio]), select, textarea");
  if (press.ctrlKey || press.metaKey || press.altKey || inField) return;
  if (!stage || !stage.root.isConnected || !stage.letters.checked) return;
  if (press.key === "n") list.neighbour(1);
  else if (press.key === "p") list.neighbour(-1);
  else stage.letter(press.key);
});

window.addEventListener("resize", () => stage?.root.isConnected && stage.lanes.draw(true));
