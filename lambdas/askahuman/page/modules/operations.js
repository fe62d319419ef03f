// The operations of the API, made of its OpenAPI document.

export const answerQuestion = {method: 'POST', path: '/human/responses'};
export const changeSubscription = {method: 'PUT', path: '/human/push/subscribe/{subscription_id}'};
export const chooseHandle = {method: 'PUT', path: '/human/handle'};
export const deleteData = {method: 'DELETE', path: '/human/data'};
export const dropHandle = {method: 'DELETE', path: '/human/handle'};
export const exportData = {method: 'GET', path: '/human/data', query: ['cursor']};
export const listAnswers = {method: 'GET', path: '/human/responses', query: ['limit', 'cursor']};
export const listOpenQuestions = {method: 'GET', path: '/human/questions', query: ['limit', 'cursor', 'audience']};
export const readLeaderboard = {method: 'GET', path: '/human/leaderboard', query: ['period', 'limit']};
export const readOpenQuestion = {method: 'GET', path: '/human/questions/{question_id}'};
export const readStats = {method: 'GET', path: '/human/stats'};
export const renewSubscription = {method: 'PUT', path: '/human/push/subscribe'};
export const reportQuestion = {method: 'POST', path: '/human/reports'};
export const subscribe = {method: 'POST', path: '/human/push/subscribe'};
export const unsubscribe = {method: 'DELETE', path: '/human/push/subscribe/{subscription_id}'};
