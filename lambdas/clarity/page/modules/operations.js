// The operations of the API, made of its OpenAPI document.

export const createAttempt = {method: 'POST', path: '/attempts'};
export const deleteUser = {method: 'DELETE', path: '/users/me'};
export const evaluateAttempt = {method: 'POST', path: '/attempts/{id}/evaluate'};
export const exportData = {method: 'GET', path: '/users/me/data', query: ['limit', 'nextToken']};
export const listAttempts = {method: 'GET', path: '/attempts', query: ['limit', 'nextToken']};
export const listProfiles = {method: 'GET', path: '/users/me/profile/history', query: ['limit', 'nextToken']};
export const listScenarios = {method: 'GET', path: '/scenarios', query: ['difficulty']};
export const readAttempt = {method: 'GET', path: '/attempts/{id}'};
export const readDocument = {method: 'GET', path: '/openapi.json'};
export const readProfile = {method: 'GET', path: '/users/me/profile'};
export const readScenario = {method: 'GET', path: '/scenarios/{id}'};
export const saveAttempt = {method: 'PUT', path: '/attempts/{id}'};
