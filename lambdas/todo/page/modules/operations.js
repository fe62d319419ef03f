// The operations of the API, made of its OpenAPI document.

export const changeTask = {method: 'PATCH', path: '/api/v1/tasks/{task_id}'};
export const changeTasks = {method: 'POST', path: '/api/v1/tasks/bulk'};
export const createTask = {method: 'POST', path: '/api/v1/tasks'};
export const createUser = {method: 'POST', path: '/api/v1/users/me'};
export const deleteTask = {method: 'DELETE', path: '/api/v1/tasks/{task_id}'};
export const deleteUser = {method: 'DELETE', path: '/api/v1/users/me'};
export const listTasks = {method: 'GET', path: '/api/v1/tasks', query: ['status', 'priority', 'category', 'due_from', 'due_to', 'overdue', 'q', 'sort', 'limit', 'cursor']};
export const readDocument = {method: 'GET', path: '/api/v1/openapi.json'};
export const readHealth = {method: 'GET', path: '/health'};
export const readStats = {method: 'GET', path: '/api/v1/tasks/stats'};
export const readTask = {method: 'GET', path: '/api/v1/tasks/{task_id}'};
export const readUser = {method: 'GET', path: '/api/v1/users/me'};
export const replaceTask = {method: 'PUT', path: '/api/v1/tasks/{task_id}'};
export const replaceUser = {method: 'PUT', path: '/api/v1/users/me'};
