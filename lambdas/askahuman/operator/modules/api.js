// The platform's API, as operators have it.

import {call} from './operator.js';
import * as operations from './operations.js';

/** reports reads a page of reports: of those that are open, if values name no other state. */
export const reports = ({signal, ...values}) => call(operations.listReports, {limit: 50, ...values}, {signal});

/** dismiss decides on a report as it was seen, and so do all of these: version says which decisions were known. */
export const dismiss = ({report_id, version}, dismissed) =>
  call(operations.decideReport, {report_id}, {body: {dismissed, version}});

/** hide hides a question, or an answer to it, or shows it again. */
export const hide = ({question_id, response_id, version}, hidden) =>
  call(response_id ? operations.hideResponse : operations.hideQuestion, {question_id, response_id},
    {body: {hidden, version}});

export const ofAgent = (agent, signal) => call(operations.listOpenOfAgent, {agent_id: agent}, {signal});

export const hideAll = (agent, version) =>
  call(operations.hideOpenOfAgent, {}, {body: {agent_id: agent, hidden: true, version}});

export const blockAgent = (agent, blocked, version) =>
  call(operations.block, {}, {body: {agent_id: agent, blocked, version}});

export const blockPerson = (person, blocked, version) =>
  call(operations.block, {}, {body: {person, blocked, version}});

export const board = (period, signal) => call(operations.readBoard, {period}, {signal});

export const resetHandle = (person, reset, version) =>
  call(operations.resetHandle, {}, {body: {person, reset, version}});

const as = (id) => ({headers: {'X-Fingerprint': id}});

/** dataOf reads a page of what is kept of a person, by the id that they tell; deleteDataOf deletes a part of it. */
export const dataOf = (id, cursor) => call(operations.exportDataOf, {cursor}, as(id));

export const deleteDataOf = (id) => call(operations.deleteDataOf, {}, as(id));
