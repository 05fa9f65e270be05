// A program that uses a generated client: checks the types of requests and responses.
import createClient from 'openapi-fetch';
import type { paths } from './api';

export async function run(baseUrl: string) {
  const client = createClient<paths>({ baseUrl });
  const { data } = await client.POST('/servers/shop/tools/total', {
    body: { currency: 'EUR', items: [{ price: 2.5, parts: [{ price: 1.25 }] }] },
  });
  if (data === undefined || 'requires_confirmation' in data || !data.structuredContent) {
    throw new Error('no result');
  }
  const { tool, arguments: args } = data.structuredContent;
  // @ts-expect-error the schema allows only two currencies
  const refused = await client.POST('/servers/shop/tools/total', { body: { currency: 'GBP' } });
  const { data: refund } = await client.POST('/servers/shop/tools/refund', { body: {} });
  if (refund === undefined || !('requires_confirmation' in refund)) {
    const text: string | undefined = refund?.content?.[0]?.text;
    throw new Error(`no confirmation required: ${text}`);
  }
  const isRequired: true = refund.requires_confirmation;
  const confirmed: string | false = isRequired && refund.tool_name;
  return { tool, currency: args?.currency, refused: refused.response.status, confirmed };
}
