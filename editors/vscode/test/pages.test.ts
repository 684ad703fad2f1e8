import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notice } from '../src/pages';

test('what a file says cannot become part of the page', () => {
  const page = notice('"<img src=x>" & more');
  assert.ok(!page.includes('<img'));
  assert.match(page, /&#60;img src=x&#62;&#34; &#38; more/);
});
