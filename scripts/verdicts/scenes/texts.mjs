// Answers as text. A text is a template: {{uuid}}, {{time}}, {{hex}} and {{ms}} are constant unless there is noise beside the change.

export const textScenes = [
  text('json', 'JSON in text', {
    template:
      '{"order":{"id":17,"lines":[{"sku":"A-1","count":2},{"sku":"B-2","count":5},{"sku":"C-3","count":9}],"paid":true,"note":null},"request":"{{uuid}}","at":"{{time}}","total":"31.50"}',
    changes: [
      ['number', '"id":17', '"id":18'],
      ['number-in-item', '"count":5', '"count":50'],
      ['text', '"A-1"', '"A-9"'],
      ['amount', '31.50', '31.05'],
      ['boolean', 'true', 'false'],
      ['null-to-text', 'null', '"late"'],
      ['member-gone', '"paid":true,', '', 'paid'],
      ['member-new', '"paid":true', '"paid":true,"vip":true'],
      ['member-renamed', '"paid"', '"settled"'],
      ['item-gone', '{"sku":"B-2","count":5},', '', 'B-2'],
      [
        'items-exchanged',
        '{"sku":"A-1","count":2},{"sku":"B-2","count":5}',
        '{"sku":"B-2","count":5},{"sku":"A-1","count":2}',
        '',
      ],
      ['number-to-text', '"id":17', '"id":"17"', '17'],
      ['cut-off', '"total":"31.50"}', '"total":"31.5', ''],
      ['brace-gone', '31.50"}', '31.50"', ''],
      ['two-values', '31.50"}', '31.50"}{}', ''],
      ['prefixed', '{"order"', 'Result: {"order"', 'Result'],
    ],
  }),
  text('pretty', 'JSON in text', {
    template:
      '{\n  "host": "db-1",\n  "ports": [\n    5432,\n    5433\n  ],\n  "trace": "{{hex}}",\n  "limits": {\n    "cpu": "500m",\n    "memory": "1Gi"\n  }\n}',
    changes: [
      ['value', 'db-1', 'db-2'],
      ['item', '5433', '5434'],
      ['items-exchanged', '5432,\n    5433', '5433,\n    5432', ''],
      ['deep-value', '500m', '250m'],
      ['member-gone', ',\n    "memory": "1Gi"', '', 'memory'],
      ['cut-off', '\n  }\n}', '', ''],
    ],
  }),
  text('lines', 'JSON lines', {
    template:
      '{"level":"info","event":"start","worker":1,"trace":"{{uuid}}"}\n{"level":"info","event":"load","rows":120,"trace":"{{uuid}}"}\n{"level":"warn","event":"skip","rows":3,"trace":"{{uuid}}"}\n{"level":"info","event":"done","code":0,"trace":"{{uuid}}"}',
    changes: [
      ['number', '"rows":120', '"rows":121'],
      ['text', '"event":"skip"', '"event":"fail"'],
      ['level', '"level":"warn"', '"level":"error"'],
      ['code', '"code":0', '"code":1', 'code'],
      ['member-gone', '"worker":1,', '', 'worker'],
      ['line-gone', '{"level":"warn","event":"skip","rows":3,"trace":"{{uuid}}"}\n', '', 'skip'],
      [
        'line-new',
        '\n{"level":"info","event":"done"',
        '\n{"level":"info","event":"retry"}\n{"level":"info","event":"done"',
        'retry',
      ],
      ['lines-exchanged', '"event":"start","worker":1', '"event":"done","code":0', 'start'],
      ['line-broken', '{"level":"info","event":"done"', '"level":"info","event":"done"', ''],
    ],
  }),
  text('xml', 'XML', {
    template:
      '<order id="7"><request>{{uuid}}</request><customer vip="yes">Ada</customer><price currency="EUR">10</price><items><item>pear</item><item>fig</item></items></order>',
    changes: [
      ['text', '>10<', '>999<'],
      ['attribute', 'EUR', 'USD'],
      ['attribute-of-root', 'id="7"', 'id="8"', '8'],
      ['attribute-gone', ' vip="yes"', '', 'vip'],
      ['element-gone', '<item>fig</item>', '', 'fig'],
      ['element-new', '<item>fig</item>', '<item>fig</item><item>kiwi</item>', 'kiwi'],
      ['element-renamed', '<customer vip="yes">Ada</customer>', '<client vip="yes">Ada</client>', 'client'],
      ['elements-exchanged', '<item>pear</item><item>fig</item>', '<item>fig</item><item>pear</item>', ''],
      ['name', 'Ada', 'Bob'],
      ['not-closed', '</order>', '', ''],
    ],
  }),
  text('html', 'HTML', {
    template:
      '<!doctype html><html><head><title>Status</title></head><body><h1>All systems go</h1><p class="note">Trace {{hex}}</p><ul><li>api: up</li><li>web: up</li></ul><a href="/help?from=status">Help</a><br></body></html>',
    changes: [
      ['title', 'Status', 'Alarm'],
      ['heading', 'All systems go', 'Some systems down', 'down'],
      ['item', 'web: up', 'web: down', 'down'],
      ['item-gone', '<li>api: up</li>', '', 'api'],
      ['items-exchanged', '<li>api: up</li><li>web: up</li>', '<li>web: up</li><li>api: up</li>', ''],
      ['link', '/help?from=status', '/help?from=home'],
      ['class', 'class="note"', 'class="alert"'],
      ['element', '<h1>All systems go</h1>', '<h2>All systems go</h2>', 'h2'],
    ],
  }),
  text('csv', 'CSV', {
    template:
      'id,name,amount,city,trace\n1,Ada,10.50,Rome,{{hex}}\n2,Bob,7.25,"Bern, CH",{{hex}}\n3,Cyd,0.00,Lund,{{hex}}\n',
    changes: [
      ['number', '7.25', '7.52'],
      ['text', 'Rome', 'Milan'],
      ['quoted', 'Bern, CH', 'Bonn, DE'],
      ['header', 'amount', 'total'],
      ['column-gone', ',city', '', 'city'],
      ['row-gone', '3,Cyd,0.00,Lund,{{hex}}\n', '', 'Cyd'],
      ['row-new', '3,Cyd', '9,Zoe,1.00,Paris,none\n3,Cyd', 'Zoe'],
      ['cell-empty', 'Lund', ''],
      ['separator', '1,Ada,10.50,Rome,', '1;Ada;10.50;Rome;', ''],
      ['row-moved', '1,Ada,10.50,Rome', '3,Cyd,0.00,Lund', ''],
    ],
  }),
  text('markdown', 'Markdown table', {
    template:
      '## Stock\n\n| item | count | store |\n| --- | ---: | --- |\n| pear | 12 | north |\n| fig | 7 | south |\n| kiwi | 0 | {{hex}} |\n\nChecked by run {{uuid}}.\n',
    changes: [
      ['number', '| 12 |', '| 13 |', '13'],
      ['text', 'south', 'east'],
      ['header', 'count', 'left'],
      ['heading', 'Stock', 'Orders'],
      ['row-gone', '| fig | 7 | south |\n', '', 'fig'],
      ['row-new', '| kiwi |', '| plum | 4 | west |\n| kiwi |', 'plum'],
      [
        'rows-exchanged',
        '| pear | 12 | north |\n| fig | 7 | south |',
        '| fig | 7 | south |\n| pear | 12 | north |',
        '',
      ],
      ['sentence', 'Checked by', 'Refused by'],
      ['volatile-row-value', '| kiwi | 0 |', '| kiwi | 5 |', '5'],
    ],
  }),
  text('prose', 'prose', {
    template:
      'Build finished in {{ms}} ms with 3 warnings and 0 errors.\nThe artifact app-1.4.2.tgz (12 kB) was stored as {{uuid}} at {{time}}.\nNext: run "deploy --stage" or ask Ada Lovelace.',
    changes: [
      ['number', '3 warnings', '4 warnings', '4'],
      ['number-to-zero', '3 warnings', '0 warnings', ''],
      ['word', 'finished', 'failed'],
      ['version', '1.4.2', '1.5.0', ''],
      ['size', '12 kB', '120 kB', '120'],
      ['unit', ' kB', ' MB', ''],
      ['name', 'Ada Lovelace', 'Charles Babbage', 'Babbage'],
      ['quoted', '--stage', '--prod'],
      ['line-gone', '\nNext: run "deploy --stage" or ask Ada Lovelace.', '', 'Next'],
      ['line-new', '\nNext', '\nThe cache was cold.\nNext', 'cold'],
      ['not', 'was stored', 'was not stored', 'not'],
      ['stored-elsewhere', 'stored as', 'deleted as'],
      ['unit-of-volatile', ' ms with', ' s with', ''],
    ],
  }),
  text('url', 'URL', {
    template: 'https://cdn.example.com/v2/files/report-7.pdf?nonce={{hex}}&expires=3600&user=ada#page=2',
    changes: [
      ['host', 'cdn.example.com', 'cdn.example.org'],
      ['scheme', 'https:', 'http:', ''],
      ['path', 'report-7', 'report-8', '8'],
      ['path-version', '/v2/', '/v3/', 'v3'],
      ['query', 'user=ada', 'user=bob'],
      ['query-number', 'expires=3600', 'expires=60', '60'],
      ['query-gone', '&user=ada', '', 'user'],
      ['query-new', '&user=ada', '&user=ada&admin=1', 'admin'],
      ['fragment', 'page=2', 'page=3', '3'],
    ],
  }),
  text('bullets', 'list in text', {
    template:
      'Found 4 notes:\n- milk (2 l)\n- bread, whole grain\n- eggs x 12\n- session {{uuid}}\n1. first step\n2. second step\n',
    changes: [
      ['item', 'bread, whole grain', 'bread, white', 'white'],
      ['amount', '(2 l)', '(3 l)', '3'],
      ['count', 'Found 4', 'Found 5', '5'],
      ['item-gone', '- eggs x 12\n', '', 'eggs'],
      ['item-new', '- eggs', '- salt\n- eggs', 'salt'],
      ['items-exchanged', '- milk (2 l)\n- bread, whole grain', '- bread, whole grain\n- milk (2 l)', ''],
      ['steps-exchanged', '1. first step\n2. second step', '1. second step\n2. first step', ''],
      ['label-of-volatile', '- session', '- token'],
    ],
  }),
  text('yaml', 'YAML and logs', {
    template:
      'service: web\nreplicas: 3\nimage: shop:1.4\nrevision: {{hex}}\nenv:\n  - MODE=prod\n  - REGION=eu\n[{{time}}] INFO  worker-1 ready in {{ms}}ms\n[{{time}}] WARN  disk 91% full\n',
    changes: [
      ['value', 'replicas: 3', 'replicas: 1', '1'],
      ['key', 'image:', 'picture:', 'picture'],
      ['list-value', 'MODE=prod', 'MODE=test', 'test'],
      ['list-item-gone', '  - REGION=eu\n', '', 'REGION'],
      ['percent', '91%', '99%', '99'],
      ['level', 'WARN ', 'ERROR', 'ERROR'],
      ['log-line-gone', '] WARN  disk 91% full\n', ']\n', 'disk'],
      ['worker', 'worker-1', 'worker-2', '2'],
    ],
  }),
]

/** A tool that answers with one text; a change replaces a part of its template. The last member is what a finding has to mention. */
export function text(name, shape, { template, changes }) {
  return {
    name,
    shape,
    document: { text: template },
    path: 'result.content[0].text',
    play: async ({ call }) => call(name),
    tools: { [name]: ({ text: filled }, { fill }) => ({ content: [{ type: 'text', text: fill(filled) }] }) },
    changes: changes.map(([id, from, to, token]) => ({
      id,
      replace: ['text', from, to],
      ...(token !== undefined && { token }),
    })),
  }
}
