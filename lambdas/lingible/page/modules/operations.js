// The operations of the API, made of its OpenAPI document.

export const answerQuestion = {method: 'POST', path: '/quiz/answer'};
export const approveSubmission = {method: 'POST', path: '/slang/admin/approve/{submission_id}'};
export const askQuestion = {method: 'GET', path: '/quiz/question', query: ['difficulty', 'category']};
export const deleteTranslation = {method: 'DELETE', path: '/translations/{id}'};
export const deleteTranslations = {method: 'DELETE', path: '/translations'};
export const deleteUser = {method: 'DELETE', path: '/user/account'};
export const endQuiz = {method: 'POST', path: '/quiz/end'};
export const listOpenSubmissions = {method: 'GET', path: '/slang/pending', query: ['limit', 'cursor']};
export const listOwnSubmissions = {method: 'GET', path: '/slang/mine', query: ['limit', 'cursor']};
export const listTranslations = {method: 'GET', path: '/translations', query: ['limit', 'cursor']};
export const listTrends = {method: 'GET', path: '/trending', query: ['limit', 'category', 'active_only']};
export const readDocument = {method: 'GET', path: '/openapi.json'};
export const readHealth = {method: 'GET', path: '/health'};
export const readQuiz = {method: 'GET', path: '/quiz/progress', query: ['session_id']};
export const readQuizHistory = {method: 'GET', path: '/quiz/history'};
export const readUsage = {method: 'GET', path: '/user/usage'};
export const readUser = {method: 'GET', path: '/user/profile'};
export const rejectSubmission = {method: 'POST', path: '/slang/admin/reject/{submission_id}'};
export const submitTerm = {method: 'POST', path: '/slang/submit'};
export const translate = {method: 'POST', path: '/translate'};
export const upgradeUser = {method: 'POST', path: '/user/upgrade'};
export const voteForSubmission = {method: 'POST', path: '/slang/upvote/{submission_id}'};
