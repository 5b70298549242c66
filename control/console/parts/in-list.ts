/** How the console lets a list of addresses or countries act: on the client, for those in it. */
export const inList = { addressSource: 'client_ip', matchMode: 'in_list' } as const;
