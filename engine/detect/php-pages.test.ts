/** Tests which pieces of PHP only write a page. */

import { expect, test } from 'vitest';
import { endOfPagePart, isInPagePart } from './php-pages.ts';

test.each([
  ["<?php echo htmlspecialchars($_GET['q'] ?? '', ENT_QUOTES); ?>", true],
  ['<?= $item->name ?>', true],
  ['<?php foreach ($items as $item): ?>', true],
  ['<?php endforeach; ?>', true],
  ["<?= $_GET['q'] ?>", true],
  ['<?php echo 1; ?>', false],
  ['<?= 7 . 7 ?>', false],
  ["<?php echo htmlspecialchars($_GET['q']);", true],
  ["<?php\nadd_filter('excerpt_more', function ($more) {\n  return '&hellip;';\n});", true],
  ['<?php /* Template Name: A */ get_header(); $a = [1, 2]; ?>', true],
  ['<?php $r = $wpdb->get_results("SELECT a FROM {$wpdb->posts}"); ?>', true],
  ["<?php add_filter('a', 'system'); ?>", false],
  ["<?php add_action('a', $_GET['b']); ?>", false],
  ["<?php $a = 'sys' . 'tem'; $a('id'); ?>", false],
  ['<?php [$a, 1][0]($x); ?>', false],
  ['<?php function ($x) { return $x; }($y); ?>', false],
  ["<?php echo $x; eval($_POST['a']);", false],
  ['<?php $wpdb->query($x); ?>', false],
  ["<?php system($_GET['c']); ?>", false],
  ["<?php $_GET['a']($_GET['b']); ?>", false],
  ["<?php $f($_GET['b']); ?>", false],
  ['<?php $f ($x); ?>', false],
  ['<?= $a->run($x) ?>', false],
  ["<?php $a['b'] ($x); ?>", false],
  ['<?= `id` ?>', false],
  ['<?= ${x} ?>', false],
  ['<?php echo "{$x}"; ?>', false],
  ['<?php include $x; ?>', false],
  ['<?php echo md5($x); ?>', false],
  ['<?php count(system)($x); ?>', false],
  ["<?php 'system'($x); ?>", false],
  ['<?php TRUE ($x); ?>', false],
  [`<?php ${'$x;'.repeat(200)} ?>`, false],
])('%s only writes a page: %s', (text, expected) => {
  expect(endOfPagePart(text, 0)).toBe(expected ? text.length : -1);
});

test('a piece ends before a sentence, with which the text is no program', () => {
  const piece = '<?php echo $x;';
  expect(endOfPagePart(`${piece}\n\nThat shows nothing here`, 0)).toBe(piece.length);
  expect(endOfPagePart(`${piece}\n\nsystem($x);`, 0)).toBe(-1);
});

test('a place stands in the piece that begins last before it', () => {
  const text = '<b><?= $x ?></b> $y';
  expect([0, 7, text.length - 2].map((place) => isInPagePart(text, place))).toEqual([
    ...[false, true, false],
  ]);
});
