// The operations of the API, made of its OpenAPI document.

export const block = {method: 'PUT', path: '/operator/blocks'};
export const decideReport = {method: 'PUT', path: '/operator/reports/{report_id}'};
export const deleteDataOf = {method: 'DELETE', path: '/operator/data'};
export const exportDataOf = {method: 'GET', path: '/operator/data', query: ['cursor']};
export const hideOpenOfAgent = {method: 'PUT', path: '/operator/questions'};
export const hideQuestion = {method: 'PUT', path: '/operator/questions/{question_id}'};
export const hideResponse = {method: 'PUT', path: '/operator/questions/{question_id}/responses/{response_id}'};
export const listOpenOfAgent = {method: 'GET', path: '/operator/questions', query: ['agent_id']};
export const listReports = {method: 'GET', path: '/operator/reports', query: ['state', 'limit', 'cursor']};
export const readBoard = {method: 'GET', path: '/operator/leaderboard', query: ['period']};
export const resetHandle = {method: 'PUT', path: '/operator/handles'};
