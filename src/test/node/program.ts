// A program on a generated client: types of what goes in and of what comes out.
import createClient from 'openapi-fetch';
import type { paths } from './api';

export async function run(baseUrl: string) {
  const client = createClient<paths>({ baseUrl });
  const { data } = await client.POST('/servers/shop/tools/total', {
    body: { currency: 'EUR', items: [{ price: 2.5, parts: [{ price: 1.25 }] }] },
  });
  if (data === undefined || !('structuredContent' in data) || !data.structuredContent) {
    throw new Error('no result');
  }
  const { tool, arguments: given } = data.structuredContent as Exclude<
    typeof data.structuredContent, undefined>;
  // @ts-expect-error the schema knows two currencies
  const refused = await client.POST('/servers/shop/tools/total', { body: { currency: 'GBP' } });
  return { tool, currency: given.currency, refused: refused.response.status };
}
