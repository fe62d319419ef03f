// Holds CloudFormation templates against cdk-nag's packs AwsSolutions and Serverless:
//
//     node nag.js FOLDER STACK...
//
// reads STACK.template.json in FOLDER for each stack, and prints as JSON what each pack
// says of each: how often it saw a rule kept, and its findings, which name resources by
// logical id. It fails where a rule cannot judge a resource.
'use strict';

const path = require('node:path');
const { App, Stack } = require('aws-cdk-lib');
const { CfnInclude } = require('aws-cdk-lib/cloudformation-include');
const { AwsSolutionsChecks, NagRuleCompliance, ServerlessChecks } = require('cdk-nag');

// A pack's report leaves out what is kept, and has rules that could not judge among
// those that are broken.
const watched = (Pack) => class extends Pack {
  kept = 0;
  failures = [];

  applyRule(parameters) {
    const { node, rule } = parameters;
    const name = parameters.ruleSuffixOverride ?? rule.name;
    super.applyRule({
      ...parameters,
      ruleSuffixOverride: name,
      rule: (resource) => {
        try {
          const result = rule(resource);
          if (result === NagRuleCompliance.COMPLIANT) {
            this.kept++;
          }
          return result;
        } catch (error) {
          this.failures.push(`${this.packName}-${name} cannot judge ${node.node.path}: ${error.message}`);
          throw error;
        }
      },
    });
  }
};

const [folder, ...stacks] = process.argv.slice(2);
const app = new App({ analyticsReporting: false });
const reports = [];
const failures = [];
for (const name of stacks) {
  const stack = new Stack(app, name);
  new CfnInclude(stack, 'Template', { templateFile: path.join(folder, `${name}.template.json`) });
  for (const Pack of [AwsSolutionsChecks, ServerlessChecks]) {
    const pack = new (watched(Pack))();
    const findings = pack.validateScope(stack).violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => ({ rule: ruleName, resource: path.posix.basename(constructPath) })));
    reports.push({ stack: name, pack: pack.readPackName, kept: pack.kept, findings });
    failures.push(...pack.failures);
  }
}
if (failures.length > 0) {
  throw new Error(failures.join('\n'));
}
console.log(JSON.stringify(reports));
