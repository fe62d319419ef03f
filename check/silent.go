package check

// Silent returns how many of the template's alarms notify no one when they go off, and how many alarms it has. Alarms
// that CloudFormation may leave out by a condition count, too. [Compare] does not report silent alarms, since it
// compares two templates.
func Silent(template *Template) (silent, alarms int) {
	for _, resource := range template.resources {
		if resource.Type != "AWS::CloudWatch::Alarm" && resource.Type != "AWS::CloudWatch::CompositeAlarm" {
			continue
		}
		alarms++
		actions, isList := resource.Properties["AlarmActions"].([]any)
		given := resource.Properties["AlarmActions"] != nil
		if off := resource.Properties["ActionsEnabled"]; off == false || off == "false" || !given ||
			isList && len(actions) == 0 {
			silent++
		}
	}
	return silent, alarms
}
