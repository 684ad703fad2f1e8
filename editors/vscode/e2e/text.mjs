/** Finding and pointing at text in the editor, which draws a line as many spans with no-break spaces. */

/** Waits until a visible line contains the text (inlay hints included). */
export async function waitForLine(page, text) {
  await page.waitForFunction(isShown, text);
}

export async function waitForNoLine(page, text) {
  await page.waitForFunction(`!(${isShown})(${JSON.stringify(text)})`);
}

/** Runs in the browser. */
function isShown(wanted) {
  const lines = [...document.querySelectorAll('.view-line')];
  return lines.some((line) => line.textContent.replaceAll('\u00a0', ' ').includes(wanted));
}

/** The middle of `word` in the first visible line that contains `line`, in pixels. */
async function placeOf(page, line, word) {
  await waitForLine(page, line);
  return page.evaluate(
    ([wantedLine, wantedWord]) => {
      const element = [...document.querySelectorAll('.view-line')].find((candidate) =>
        candidate.textContent.replaceAll('\u00a0', ' ').includes(wantedLine),
      );
      const nodes = [];
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        nodes.push(walker.currentNode);
      }
      const start = element.textContent.replaceAll('\u00a0', ' ').indexOf(wantedWord);
      const at = (offset) => {
        for (const node of nodes) {
          if (offset < node.length) {
            return [node, offset];
          }
          offset -= node.length;
        }
        throw new Error(`no ${wantedWord} in ${wantedLine}`);
      };
      const range = document.createRange();
      range.setStart(...at(start));
      const [last, offset] = at(start + wantedWord.length - 1);
      range.setEnd(last, offset + 1);
      const box = range.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    },
    [line, word],
  );
}

/** The text of the hover that appears over a word. Tries again: lines move when shapes arrive above them. */
export async function hover(page, line, word) {
  const box = page.locator('.monaco-hover:visible').first();
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const { x, y } = await placeOf(page, line, word);
    await page.mouse.move(5, 5);
    await page.mouse.move(x, y, { steps: 5 });
    const appeared = await box.waitFor({ timeout: 5_000 }).then(() => true, () => false);
    const text = appeared ? (await box.innerText()).replaceAll('\u00a0', ' ') : '';
    if (text !== '' && !text.includes('Loading...')) {
      return text;
    }
  }
  throw new Error(`nothing appears over ${word}`);
}

/** Opens the list of quick fixes for a word. Tries again: a hover that appears meanwhile swallows the key. */
export async function openQuickFixes(page, line, word) {
  const first = page.locator('.action-widget .monaco-list-row').first();
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const { x, y } = await placeOf(page, line, word);
    await page.mouse.click(x, y);
    await page.mouse.move(5, 5);
    await page.keyboard.press('Control+.');
    if (await first.waitFor({ timeout: 10_000 }).then(() => true, () => false)) {
      return;
    }
  }
  throw new Error(`no quick fix is offered for ${word}`);
}

/** Waits until that many problems, of any severity, are underlined. */
export async function waitForSquiggles(page, count) {
  const drawn = (wanted) => document.querySelectorAll('.cdr[class*="squiggly-"]').length === wanted;
  await page.waitForFunction(drawn, count);
}

/** Waits until that many problems are counted in the status bar, whether or not their lines are in sight. */
export async function waitForProblems(page, count) {
  const counted = (wanted) => {
    const text = document.getElementById('status.problems')?.textContent ?? '';
    return (text.match(/\d+/g) ?? []).reduce((sum, part) => sum + Number(part), 0) === wanted;
  };
  await page.waitForFunction(counted, count);
}
