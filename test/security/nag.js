// Holds CloudFormation templates against cdk-nag's packs AwsSolutions and Serverless:
//
//     node nag.js NAME.template.json...
//
// prints what each pack says of each template, as JSON: {NAME: {PACK: {kept, findings,
// undecided}}}. kept is how often the pack saw a rule kept. Findings are the rules that
// resources, by logical id, do not keep. Undecided are those that could not judge.
'use strict';

const path = require('node:path');
const { App, Stack } = require('aws-cdk-lib');
const { CfnInclude } = require('aws-cdk-lib/cloudformation-include');
const { AwsSolutionsChecks, NagRuleCompliance, ServerlessChecks } = require('cdk-nag');

// A pack's own report leaves out what is kept, and tells what is undecided from what is
// broken by its wording alone.
const watched = (Pack) => class extends Pack {
  kept = 0;
  undecided = [];

  applyRule(parameters) {
    const { node, rule, ruleSuffixOverride = rule.name } = parameters;
    super.applyRule({
      ...parameters,
      ruleSuffixOverride,
      rule: (resource) => {
        try {
          const result = rule(resource);
          if (result === NagRuleCompliance.COMPLIANT) {
            this.kept++;
          }
          return result;
        } catch (error) {
          this.undecided.push({ rule: `${this.packName}-${ruleSuffixOverride}`, resource: node.node.id,
            cause: error.message });
          return NagRuleCompliance.NOT_APPLICABLE;
        }
      },
    });
  }
};

const app = new App({ analyticsReporting: false });
const reports = {};
for (const templateFile of process.argv.slice(2)) {
  const name = path.basename(templateFile, '.template.json');
  const stack = new Stack(app, name);
  new CfnInclude(stack, 'Template', { templateFile });
  reports[name] = {};
  for (const Pack of [AwsSolutionsChecks, ServerlessChecks]) {
    const pack = new (watched(Pack))();
    const findings = pack.validateScope(stack).violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) =>
        ({ rule: ruleName, resource: path.posix.basename(constructPath) })));
    reports[name][pack.readPackName] = { kept: pack.kept, findings, undecided: pack.undecided };
  }
}
console.log(JSON.stringify(reports));
