// The platform's API, as operators have it.

import {call} from './operator.js';
import * as operations from './operations.js';

export const reports = ({signal, ...values}) => call(operations.listReports, {limit: 20, ...values}, {signal});

export const dismiss = (id, dismissed) => call(operations.decideReport, {report_id: id}, {body: {dismissed}});

/** hide hides a question, or an answer to it, or shows it again. */
export const hide = (question, answer, hidden) => answer
  ? call(operations.hideResponse, {question_id: question, response_id: answer}, {body: {hidden}})
  : call(operations.hideQuestion, {question_id: question}, {body: {hidden}});

export const ofAgent = (agent, signal) => call(operations.listOpenOfAgent, {agent_id: agent}, {signal});

export const hideAll = (agent) => call(operations.hideOpenOfAgent, {}, {body: {agent_id: agent, hidden: true}});

export const blockAgent = (agent, blocked) => call(operations.block, {}, {body: {agent_id: agent, blocked}});

export const blockPerson = (person, blocked) => call(operations.block, {}, {body: {person, blocked}});
