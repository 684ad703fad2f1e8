/** A page that says why there is no page of shapes. Knows nothing of VS Code. */

export function notice(reason: string): string {
  const text = reason.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"></head><body><p>No shapes: ${text}.</p></body></html>`;
}
