import { type DestinationStream, destination, type Logger, pino } from 'pino';

/** Headers that carry secrets, wherever in a log line they might turn up. */
const SECRET_HEADERS = ['authorization', 'cookie', 'set-cookie', 'x-api-key', 'proxy-authorization'];

export const buildLogger = (level: string, stream: DestinationStream = destination(1)): Logger =>
  pino(
    {
      level,
      redact: {
        paths: SECRET_HEADERS.flatMap((header) => [`headers["${header}"]`, `*.headers["${header}"]`]),
        censor: '[redacted]',
      },
    },
    stream,
  );
