//! Implements the trait [`SignIns`] (sign-ins, invitations and sessions) in memory, for tests.

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::{AccountId, Timestamp};
use enrich_sign_in::{
    EmailSet, ListedSession, PasswordHash, Session, SessionId, SignIn, SignIns, Token,
};
use enrich_text::EmailAddress;

use super::FakePorts;

fn id_of(token: &str) -> SessionId {
    SessionId::parse(&token[..32]).unwrap()
}

#[async_trait]
impl SignIns for FakePorts {
    async fn set_email(
        &self,
        account: AccountId,
        email: &EmailAddress,
        now: Timestamp,
    ) -> Result<EmailSet, StoreError> {
        let (email, password, created_at) = (email.clone(), None, now);
        self.sign_ins.lock().push(SignIn { account, email, password, created_at });
        Ok(EmailSet::Set)
    }

    async fn sign_in(&self, account: AccountId) -> Result<Option<SignIn>, StoreError> {
        Ok(self.sign_ins.lock().iter().find(|sign_in| sign_in.account == account).cloned())
    }

    async fn by_email(&self, email: &EmailAddress) -> Result<Option<SignIn>, StoreError> {
        Ok(self.sign_ins.lock().iter().find(|sign_in| sign_in.email == *email).cloned())
    }

    async fn invite(
        &self,
        account: AccountId,
        token: &Token,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.invitations.lock().insert(token.expose().to_owned(), (account, until));
        Ok(true)
    }

    async fn invited(&self, token: &Token, now: Timestamp) -> Result<Option<SignIn>, StoreError> {
        let invitation = self.invitations.lock().get(token.expose()).copied();
        match invitation.filter(|(_, until)| now < *until) {
            Some((account, _)) => self.sign_in(account).await,
            None => Ok(None),
        }
    }

    async fn accept(
        &self,
        token: &Token,
        password: PasswordHash,
        now: Timestamp,
    ) -> Result<Option<AccountId>, StoreError> {
        let Some(sign_in) = self.invited(token, now).await? else { return Ok(None) };
        self.invitations.lock().remove(token.expose());
        self.set_password(sign_in.account, password, None).await?;
        Ok(Some(sign_in.account))
    }

    async fn set_password(
        &self,
        account: AccountId,
        password: PasswordHash,
        kept: Option<&Token>,
    ) -> Result<bool, StoreError> {
        if let Some(found) =
            self.sign_ins.lock().iter_mut().find(|sign_in| sign_in.account == account)
        {
            found.password = Some(password);
        }
        self.end_sessions(account, kept).await?;
        Ok(true)
    }

    async fn begin_session(&self, token: &Token, session: Session) -> Result<(), StoreError> {
        let password = self.password_before_session.lock().take();
        if let Some(password) = password {
            self.set_password(session.account, password, None).await?;
        }
        self.sessions.lock().insert(token.expose().to_owned(), session);
        Ok(())
    }

    async fn session(&self, token: &Token) -> Result<Option<Session>, StoreError> {
        Ok(self.sessions.lock().get(token.expose()).copied())
    }

    async fn touch_session(&self, token: &Token, at: Timestamp) -> Result<(), StoreError> {
        if let Some(session) = self.sessions.lock().get_mut(token.expose()) {
            session.seen_at = at;
        }
        Ok(())
    }

    async fn end_session(&self, token: &Token) -> Result<(), StoreError> {
        self.sessions.lock().remove(token.expose());
        Ok(())
    }

    async fn settle_ends(&self, _: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }

    async fn sessions(
        &self,
        account: AccountId,
        current: Option<&Token>,
    ) -> Result<Vec<ListedSession>, StoreError> {
        let sessions = self.sessions.lock();
        let own = sessions.iter().filter(|(_, session)| session.account == account);
        Ok(own
            .map(|(token, session)| ListedSession {
                id: id_of(token),
                session: *session,
                is_current: current.is_some_and(|current| current.expose() == token),
            })
            .collect())
    }

    async fn end_session_of(&self, account: AccountId, id: SessionId) -> Result<bool, StoreError> {
        let mut sessions = self.sessions.lock();
        let before = sessions.len();
        sessions.retain(|token, session| session.account != account || id_of(token) != id);
        Ok(sessions.len() < before)
    }

    async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Token>,
    ) -> Result<u64, StoreError> {
        let mut sessions = self.sessions.lock();
        let before = sessions.len();
        let kept = kept.map(Token::expose);
        sessions
            .retain(|token, session| session.account != account || Some(token.as_str()) == kept);
        Ok((before - sessions.len()) as u64)
    }
}
