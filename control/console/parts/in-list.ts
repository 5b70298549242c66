/** How lists act that are made in the console. */

/** On the address of the client, for what is in the list. */
export const inList = { addressSource: 'client_ip', matchMode: 'in_list' } as const;
