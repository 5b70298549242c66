/** The console's entry: draws the program into the page and begins a session. */

import { render } from 'preact';
import { address } from './address.ts';
import { Console, fetchPage } from './console.tsx';
import { resume } from './session.ts';
import './style.css';
import './style-parts.css';
import './style-narrow.css';
import './style-drawn.css';

const place = document.getElementById('console');
if (place !== null) render(<Console />, place);
void resume();
fetchPage(address.value.path);
