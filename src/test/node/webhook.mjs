// Verifies a webhook with the library of Standard Webhooks. Prints the verified payload.
// Arguments: the secret, a JSON object with the headers, the body.
import { Webhook } from 'standardwebhooks';

const [secret, headers, body] = process.argv.slice(2);
console.log(JSON.stringify(new Webhook(secret).verify(body, JSON.parse(headers))));
