// A button on each block of code copies it, of a session in a shell the commands alone.
document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  const blocks = "div.highlight-python, div.highlight-default, div.highlight-bash, div.highlight-console, div.highlight-py, div.highlight-bibtex";
  for (const block of document.querySelectorAll(blocks)) {
    const pre = block.querySelector("pre");
    if (!pre) continue;
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      let text = pre.textContent;
      if (block.classList.contains("highlight-console")) {
        text = text.split("\n").filter((line) => line.startsWith("$ ")).map((line) => line.slice(2)).join("\n");
      } else if (/^>>> /m.test(text)) {
        text = text.split("\n").filter((line) => /^(>>>|\.\.\.)/.test(line)).map((line) => line.slice(4)).join("\n");
      }
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.style.position = "relative";
    block.append(button);
  }
});
