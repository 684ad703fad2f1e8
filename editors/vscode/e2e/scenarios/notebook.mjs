/** A notebook: problems and shapes in its cells, across cells. */

import { openFile, PYTHON, scenario } from '../harness.mjs';
import { waitForLine, waitForSquiggles } from '../text.mjs';

const cell = (source) => ({ cell_type: 'code', execution_count: null, metadata: {}, outputs: [], source });
const notebook = {
  cells: [
    cell('import torch\nimport torch.nn.functional as F'),
    cell('%matplotlib inline\nprobabilities = F.softmax(torch.randn(8, 5), dim=1)'),
    cell('loss = F.cross_entropy(probabilities, torch.zeros(8, dtype=torch.long))'),
  ],
  metadata: { language_info: { name: 'python' }, kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
  nbformat: 4,
  nbformat_minor: 5,
};

const options = {
  files: { 'study.ipynb': JSON.stringify(notebook, null, 1) },
  settings: { 'torchlint.interpreter': PYTHON },
};
await scenario('notebook', options, async ({ page, step }) => {
  await step('a problem that spans cells is underlined', async () => {
    await openFile(page, 'study.ipynb');
    await waitForSquiggles(page, 1);
  });

  await step('shapes stand in the cells', async () => {
    await waitForLine(page, 'probabilities: [8, 5] =');
  });
});
