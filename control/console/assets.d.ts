/** What the bundler takes beside code. */

declare module '*.css';
