/** `waf mcp`: a read-only Model Context Protocol server on standard input and output. */

import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { ApiClient } from '../api-client.ts';
import type { CommandDefinition } from '../command.ts';
import { readArguments, readingTools } from './mcp-tools.ts';

/** The command. */
export const mcpCommand: CommandDefinition = {
  path: ['mcp'],
  summary: 'Serve events, explanations, policies, tests and replay to an assistant of yours',
  help:
    'Speaks the Model Context Protocol on standard input and output until the input ends. Its\n' +
    'tools read only, with what the caller of this command may do: give --api and --token of a\n' +
    'user with few permissions. Texts from traffic are part of the answers.',
  run: async (context) => {
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
    const server = await openMcpServer(await context.api());
    const ended = new Promise<void>((resolve) => {
      server.onclose = () => resolve();
      process.stdin.once('end', () => void server.close());
    });
    await server.connect(new StdioServerTransport());
    await ended;
    return 0;
  },
};

/** The server with its tools; the caller connects it. */
export async function openMcpServer(api: ApiClient): Promise<Server> {
  const sdk = await import('@modelcontextprotocol/sdk/server/index.js');
  const types = await import('@modelcontextprotocol/sdk/types.js');
  const server = new sdk.Server({ name: 'waf', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({
    tools: readingTools.map(({ name, description, arguments: named, required }) => ({
      name,
      description,
      annotations: { readOnlyHint: true },
      inputSchema: {
        type: 'object' as const,
        properties: Object.fromEntries(
          Object.entries(named).map(([key, text]) => [key, { type: 'string', description: text }]),
        ),
        required: [...required],
        additionalProperties: false,
      },
    })),
  }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }) => {
    const text = (value: string, isError = false) => ({
      content: [{ type: 'text' as const, text: value }],
      isError,
    });
    const tool = readingTools.find(({ name }) => name === params.name);
    if (tool === undefined) return text(`There is no tool named ${params.name}.`, true);
    try {
      const found = await tool.run(api, readArguments(tool, params.arguments ?? {}));
      return text(JSON.stringify(found));
    } catch (error) {
      return text(error instanceof Error ? error.message : 'The call failed.', true);
    }
  });
  return server;
}
