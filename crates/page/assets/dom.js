// Elements, made without markup: whatever comes from the data is text and stays text.

const SVG = "http://www.w3.org/2000/svg";

/** An element. Attributes that are null or false are left out; children are elements or text. */
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same, for drawings. */
function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A name of the input: its beginning and end where it is long, and the whole as a tooltip. */
function named(tag, className, name, room = 64) {
  const short = shortened(name, room);
  return el(tag, { class: className, title: short === name ? null : name }, short);
}

function shortened(name, room) {
  if (name.length <= room) return name;
  const letters = Array.from(name);
  if (letters.length <= room) return name;
  const head = Math.ceil((room * 2) / 3);
  return letters.slice(0, head).join("") + "…" + letters.slice(letters.length - (room - head)).join("");
}

/** The last part of a path. */
function fileName(path) {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

/**
 * Copies text. The modern way wants a secure context, the old one a selection; if neither works, the text is left
 * selected, so that a keystroke does it.
 */
async function copyText(text, shownIn) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(shownIn);
    const selection = document.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }
}
