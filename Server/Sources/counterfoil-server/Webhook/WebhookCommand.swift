import ArgumentParser

/// The command group `webhook`, which manages the receivers of events.
struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Manage webhooks, to which the server posts its events.",
        discussion: """
            A running server posts each event of the audit log to each webhook: signed (Standard Webhooks 1.0.0), in \
            the order of the log, and again until the receiver answers with a status from 200 to 299. A receiver can \
            get an event twice, with the same webhook-id. An event has identifiers only, no names and no addresses.

            After five days of failures, and after status 410, the server disables a webhook. Its events stay in the \
            audit log for their retention, and are sent after "webhook resume".

            Examples:
              counterfoil-server webhook create https://hooks.example.com/counterfoil \\
                --label "Photo library" --type user.created --type user.deleted \\
                --data-dir ./data
              counterfoil-server webhook list --data-dir ./data
            """,
        subcommands: [
            WebhookCreate.self, WebhookList.self, WebhookShow.self, WebhookEdit.self, WebhookPause.self,
            WebhookResume.self, WebhookRotateSecret.self, WebhookResend.self, WebhookReplay.self, WebhookDelete.self,
        ]
    )
}
