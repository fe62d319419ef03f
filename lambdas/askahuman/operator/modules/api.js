// The platform's API, as operators have it.

import {get, request} from './operator.js';

export const reports = ({state, cursor, signal}) => {
  const parameters = new URLSearchParams({state, limit: 20});
  if (cursor) parameters.set('cursor', cursor);
  return get(`/operator/reports?${parameters}`, signal);
};

export const dismiss = (id, dismissed) =>
  request('PUT', `/operator/reports/${encodeURIComponent(id)}`, {body: {dismissed}});

/** hide hides a question, or an answer to it, or shows it again. */
export const hide = (question, answer, hidden) => request('PUT', answer
  ? `/operator/questions/${encodeURIComponent(question)}/responses/${encodeURIComponent(answer)}`
  : `/operator/questions/${encodeURIComponent(question)}`, {body: {hidden}});

export const ofAgent = (agent, signal) => get(`/operator/questions?${new URLSearchParams({agent_id: agent})}`, signal);

export const hideAll = (agent) => request('PUT', '/operator/questions', {body: {agent_id: agent, hidden: true}});

export const blockAgent = (agent, blocked) => request('PUT', '/operator/blocks', {body: {agent_id: agent, blocked}});

export const blockPerson = (person, blocked) => request('PUT', '/operator/blocks', {body: {person, blocked}});
