/** The main tasks of the first three pages in Chinese: sign-in, overview, attacks and events. */

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { chosenPassword } from '../console-driver.ts';
import type { Desk } from './desk.ts';
import { attackIn, type Task, type World } from './task.ts';

/** A task whose pages are Chinese while it runs. */
export function inChinese(task: Task): Task {
  const run = async (desk: Desk, world: World): Promise<void> => {
    await desk.page.select('header select', 'zh-CN');
    try {
      await task.run(desk, world);
    } finally {
      await desk.page.select('header select', 'en');
    }
  };
  return { ...task, does: `in Chinese: ${task.does}`, run };
}

async function openEvent(desk: Desk, id: string): Promise<void> {
  await desk.go(`/attacks/${id}`);
  await desk.shows('此请求已被拦截，状态码 403。');
}

const tasks: readonly Task[] = [
  {
    id: 'zh-sign-in',
    page: 'Sign in',
    does: 'signs out and in again',
    expects: 'the page that was open is there again',
    run: async (desk) => {
      await desk.go('/attacks');
      await desk.press('退出登录');
      await desk.fill('用户名', 'admin');
      await desk.fill('密码', chosenPassword);
      await desk.press('登录');
      await desk.page.waitForSelector('header ~ main h1');
      await desk.shows('客户端地址或网段');
    },
  },
  {
    id: 'zh-overview',
    page: 'Overview',
    does: 'reads the numbers of an hour and follows a ranking',
    expects: 'the events of that rule over that time',
    run: async (desk, world) => {
      await world.refused('overview-zh');
      await desk.go('/');
      await desk.press('1 小时');
      await desk.shows('命中最多的规则');
      // What needs a person there depends on all that earlier tasks left.
      await desk.shows('需要处理');
      await (await desk.page.waitForSelector('main a[href*="rule="]'))!.click();
      await desk.shows('清除筛选');
      expect(desk.page.url()).toContain('/attacks?span=1h&rule=');
    },
  },
  {
    id: 'zh-attacks',
    page: 'Attacks',
    does: 'narrows the list to one client, and clears the filter',
    expects: 'only its events are shown',
    run: async (desk, world) => {
      const { client } = await world.refused('narrow-zh');
      await desk.go('/attacks');
      await desk.fill('客户端地址或网段', client);
      await desk.page.keyboard.press('Enter');
      await desk.shows('清除筛选');
      await eventually(async () => {
        const clients = await desk.page.$$eval('main tbody td:nth-child(3)', (all) =>
          all.map((cell) => cell.textContent),
        );
        return clients.length > 0 && clients.every((one) => one === client);
      });
      await desk.press('清除筛选');
      await desk.hides('清除筛选');
    },
  },
  {
    id: 'zh-live',
    page: 'Attacks',
    does: 'follows events as they happen',
    expects: 'an attack appears without a reload',
    run: async (desk, world) => {
      const { siteId, get } = await world.refused('lively-zh');
      await desk.go(`/attacks?live=1&site=${siteId}`);
      await desk.shows('新事件显示在最上方。');
      await eventually(async () => {
        // A busy engine may refuse it for another reason.
        const status = await get(attackIn('live'));
        return status === 403 && (await desk.page.$('main tbody a')) !== null;
      });
    },
  },
  {
    id: 'zh-message',
    page: 'Event',
    does: 'reads what the rules found, and what a refused form says',
    expects: 'both are Chinese, with the own words of the rule as the hint',
    run: async (desk, world) => {
      const { eventId } = await world.refused('message-zh', await world.crsPolicy('Said'));
      await openEvent(desk, eventId);
      await desk.shows('libinjection 发现 SQL 注入攻击');
      const hint = '[title="SQL Injection Attack Detected via libinjection"]';
      expect(await desk.page.$(`main ${hint}`)).not.toBeNull();
      await desk.go('/protection');
      await desk.fill('地址', 'nowhere', '查询地址命中情况');
      await desk.press('查询');
      await desk.shows('必须是单个地址');
    },
  },
  {
    id: 'zh-allow',
    page: 'Event',
    does: 'goes from an event to a saved exclusion',
    expects: 'at most four clicks, the request passes, and the same elsewhere does not',
    run: async (desk, world) => {
      const policyId = await world.policy('In Chinese');
      const { get, eventId } = await world.refused('allow-zh', policyId);
      await openEvent(desk, eventId);
      await desk.shows('规则 942100 不检查 ARGS:q');
      await desk.shows('仅此站点');
      desk.presses = 0;
      await desk.press('查看还会放行什么');
      await desk.shows('没有其他已拦截的请求会被放行。');
      await desk.press('保存此排除项');
      await desk.shows('已保存。规则编译完成后');
      expect(desk.presses).toBeLessThanOrEqual(4);
      await eventually(async () => (await get(attackIn('q'))) === 200);
      expect(await get(attackIn('other'))).toBe(403);
    },
  },
  {
    id: 'zh-block',
    page: 'Event',
    does: 'blocks the client of an event',
    expects: 'it is refused whatever it asks',
    run: async (desk, world) => {
      const { client, get, eventId } = await world.refused('block-zh');
      await openEvent(desk, eventId);
      const block = `在所有站点拦截 ${client}`;
      await desk.press(block);
      await desk.press(block);
      await desk.shows('已拦截：已加入名单“Blocked clients”');
      await eventually(async () => (await get('/')) === 403);
    },
  },
];

/** The table. */
export const chineseTasks: readonly Task[] = tasks.map(inChinese);
