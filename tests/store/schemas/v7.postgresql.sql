-- The tables as commit 5273447f made them: CreateTable and CreateIndex of its metadata.
CREATE TABLE annotator (
	id SERIAL NOT NULL,
	name VARCHAR NOT NULL,
	role VARCHAR NOT NULL,
	password VARCHAR,
	languages VARCHAR NOT NULL,
	disabled BOOLEAN NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (name)
);
CREATE TABLE input (
	id SERIAL NOT NULL,
	key BYTEA NOT NULL,
	texts JSON NOT NULL,
	languages VARCHAR NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (key)
);
CREATE TABLE judge (
	id SERIAL NOT NULL,
	name VARCHAR NOT NULL,
	version VARCHAR NOT NULL,
	settings VARCHAR NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (name, version, settings)
);
CREATE TABLE relation (
	id SERIAL NOT NULL,
	task VARCHAR NOT NULL,
	name VARCHAR NOT NULL,
	version VARCHAR NOT NULL,
	params VARCHAR NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (task, name, version, params)
);
CREATE TABLE schema_version (
	version SERIAL NOT NULL,
	PRIMARY KEY (version)
);
CREATE TABLE seal (
	name VARCHAR NOT NULL,
	rows BIGINT NOT NULL,
	sum BIGINT NOT NULL,
	PRIMARY KEY (name)
);
CREATE TABLE setting (
	name VARCHAR NOT NULL,
	value JSON NOT NULL,
	PRIMARY KEY (name)
);
CREATE TABLE study (
	id SERIAL NOT NULL,
	key BYTEA NOT NULL,
	task VARCHAR NOT NULL,
	corpus VARCHAR NOT NULL,
	fingerprint VARCHAR NOT NULL,
	unit VARCHAR NOT NULL,
	has_gold BOOLEAN NOT NULL,
	seed INTEGER NOT NULL,
	"limit" INTEGER,
	imported BOOLEAN NOT NULL,
	chunk INTEGER NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (key)
);
CREATE TABLE system (
	id SERIAL NOT NULL,
	name VARCHAR NOT NULL,
	version VARCHAR NOT NULL,
	settings VARCHAR NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (name, version, settings)
);
CREATE TABLE cause (
	id SERIAL NOT NULL,
	group_id BIGINT NOT NULL,
	system_id INTEGER NOT NULL,
	annotator_id INTEGER NOT NULL,
	code VARCHAR NOT NULL,
	comment VARCHAR,
	at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(system_id) REFERENCES system (id),
	FOREIGN KEY(annotator_id) REFERENCES annotator (id)
);
CREATE INDEX ix_cause_group ON cause (group_id, system_id);
CREATE TABLE chunk_lease (
	study_id INTEGER NOT NULL,
	chunk INTEGER NOT NULL,
	owner VARCHAR NOT NULL,
	until TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (study_id, chunk),
	FOREIGN KEY(study_id) REFERENCES study (id)
);
CREATE TABLE job (
	id SERIAL NOT NULL,
	plan VARCHAR NOT NULL,
	state VARCHAR NOT NULL,
	annotator_id INTEGER,
	host VARCHAR NOT NULL,
	pid INTEGER,
	step VARCHAR NOT NULL,
	done INTEGER NOT NULL,
	total INTEGER NOT NULL,
	message VARCHAR,
	log VARCHAR,
	started_at TIMESTAMP WITH TIME ZONE NOT NULL,
	seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
	ended_at TIMESTAMP WITH TIME ZONE,
	PRIMARY KEY (id),
	FOREIGN KEY(annotator_id) REFERENCES annotator (id)
);
CREATE TABLE login (
	key BYTEA NOT NULL,
	annotator_id INTEGER NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
	expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
	ended_at TIMESTAMP WITH TIME ZONE,
	PRIMARY KEY (key),
	FOREIGN KEY(annotator_id) REFERENCES annotator (id)
);
CREATE INDEX ix_login_annotator ON login (annotator_id);
CREATE TABLE member (
	group_id BIGINT NOT NULL,
	step SMALLINT NOT NULL,
	input_id INTEGER NOT NULL,
	role VARCHAR NOT NULL,
	PRIMARY KEY (group_id, step),
	FOREIGN KEY(input_id) REFERENCES input (id)
);
CREATE INDEX ix_member_input ON member (input_id);
CREATE TABLE output (
	input_id INTEGER NOT NULL,
	system_id INTEGER NOT NULL,
	attempt SMALLINT NOT NULL,
	label VARCHAR,
	score FLOAT,
	text VARCHAR,
	error VARCHAR,
	PRIMARY KEY (input_id, system_id, attempt),
	FOREIGN KEY(input_id) REFERENCES input (id),
	FOREIGN KEY(system_id) REFERENCES system (id)
);
CREATE TABLE plan (
	id SERIAL NOT NULL,
	name VARCHAR NOT NULL,
	version INTEGER NOT NULL,
	content JSON NOT NULL,
	frozen BOOLEAN NOT NULL,
	annotator_id INTEGER,
	at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (name, version),
	FOREIGN KEY(annotator_id) REFERENCES annotator (id)
);
CREATE TABLE progress (
	study_id INTEGER NOT NULL,
	relation_id INTEGER NOT NULL,
	system_id INTEGER NOT NULL,
	chunk INTEGER NOT NULL,
	PRIMARY KEY (study_id, relation_id, system_id, chunk),
	FOREIGN KEY(study_id) REFERENCES study (id),
	FOREIGN KEY(relation_id) REFERENCES relation (id),
	FOREIGN KEY(system_id) REFERENCES system (id)
);
CREATE TABLE question (
	id SERIAL NOT NULL,
	key BYTEA NOT NULL,
	task VARCHAR NOT NULL,
	kind VARCHAR NOT NULL,
	input_id INTEGER NOT NULL,
	output VARCHAR,
	group_id BIGINT,
	annotators INTEGER NOT NULL,
	priority INTEGER,
	filled BOOLEAN DEFAULT false NOT NULL,
	protocol VARCHAR DEFAULT 'blind' NOT NULL,
	waits INTEGER DEFAULT '0' NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (key),
	FOREIGN KEY(input_id) REFERENCES input (id)
);
CREATE INDEX ix_question_input ON question (input_id);
CREATE INDEX ix_question_next ON question (filled, priority, waits DESC, kind, id);
CREATE INDEX ix_question_priority ON question (priority);
CREATE TABLE repeat (
	input_id INTEGER NOT NULL,
	system_id INTEGER NOT NULL,
	number SMALLINT NOT NULL,
	label VARCHAR,
	score FLOAT,
	text VARCHAR,
	error VARCHAR,
	PRIMARY KEY (input_id, system_id, number),
	FOREIGN KEY(input_id) REFERENCES input (id),
	FOREIGN KEY(system_id) REFERENCES system (id)
);
CREATE TABLE sample (
	id SERIAL NOT NULL,
	study_id INTEGER NOT NULL,
	design VARCHAR NOT NULL,
	seed INTEGER NOT NULL,
	annotators INTEGER NOT NULL,
	domain VARCHAR DEFAULT 'all' NOT NULL,
	protocol VARCHAR DEFAULT 'blind' NOT NULL,
	drawn_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (study_id, design, seed),
	FOREIGN KEY(study_id) REFERENCES study (id)
);
CREATE TABLE source (
	id SERIAL NOT NULL,
	study_id INTEGER NOT NULL,
	row VARCHAR NOT NULL,
	input_id INTEGER NOT NULL,
	gold VARCHAR,
	cluster VARCHAR,
	attributes JSON NOT NULL,
	u FLOAT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (study_id, row),
	FOREIGN KEY(study_id) REFERENCES study (id),
	FOREIGN KEY(input_id) REFERENCES input (id)
);
CREATE INDEX ix_source_input_id ON source (input_id);
CREATE TABLE validity_draw (
	study_id INTEGER NOT NULL,
	relation_id INTEGER NOT NULL,
	rank INTEGER NOT NULL,
	group_id BIGINT NOT NULL,
	step SMALLINT NOT NULL,
	PRIMARY KEY (study_id, relation_id, rank),
	FOREIGN KEY(study_id) REFERENCES study (id),
	FOREIGN KEY(relation_id) REFERENCES relation (id)
);
CREATE TABLE validity_study (
	study_id INTEGER NOT NULL,
	seed INTEGER NOT NULL,
	annotators INTEGER NOT NULL,
	first BOOLEAN NOT NULL,
	drawn_at TIMESTAMP WITH TIME ZONE NOT NULL,
	ended_at TIMESTAMP WITH TIME ZONE,
	PRIMARY KEY (study_id),
	FOREIGN KEY(study_id) REFERENCES study (id)
);
CREATE TABLE verdict (
	group_id BIGINT NOT NULL,
	system_id INTEGER NOT NULL,
	outcome SMALLINT NOT NULL,
	value FLOAT,
	reason VARCHAR,
	PRIMARY KEY (group_id, system_id),
	FOREIGN KEY(system_id) REFERENCES system (id)
);
CREATE TABLE adjudication (
	id SERIAL NOT NULL,
	question_id INTEGER NOT NULL,
	annotator_id INTEGER NOT NULL,
	allowed JSON NOT NULL,
	reason VARCHAR NOT NULL,
	code VARCHAR,
	guideline INTEGER,
	decided_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(question_id) REFERENCES question (id),
	FOREIGN KEY(annotator_id) REFERENCES annotator (id)
);
CREATE INDEX ix_adjudication_question ON adjudication (question_id);
CREATE TABLE answer (
	question_id INTEGER NOT NULL,
	origin VARCHAR NOT NULL,
	allowed JSON NOT NULL,
	PRIMARY KEY (question_id, origin),
	FOREIGN KEY(question_id) REFERENCES question (id)
);
CREATE TABLE aside (
	id SERIAL NOT NULL,
	question_id INTEGER NOT NULL,
	annotator_id INTEGER NOT NULL,
	kind VARCHAR NOT NULL,
	comment VARCHAR,
	at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(question_id) REFERENCES question (id),
	FOREIGN KEY(annotator_id) REFERENCES annotator (id)
);
CREATE INDEX ix_aside_annotator ON aside (annotator_id);
CREATE INDEX ix_aside_question ON aside (question_id);
CREATE TABLE audit (
	sample_id INTEGER NOT NULL,
	groups INTEGER NOT NULL,
	follow_ups FLOAT NOT NULL,
	answers FLOAT NOT NULL,
	PRIMARY KEY (sample_id),
	FOREIGN KEY(sample_id) REFERENCES sample (id)
);
CREATE TABLE audit_draw (
	sample_id INTEGER NOT NULL,
	relation_id INTEGER NOT NULL,
	system_id INTEGER NOT NULL,
	outcome SMALLINT NOT NULL,
	rank INTEGER NOT NULL,
	group_id BIGINT NOT NULL,
	PRIMARY KEY (sample_id, relation_id, system_id, outcome, rank),
	FOREIGN KEY(sample_id) REFERENCES sample (id),
	FOREIGN KEY(relation_id) REFERENCES relation (id),
	FOREIGN KEY(system_id) REFERENCES system (id)
);
CREATE INDEX ix_audit_draw_group ON audit_draw (group_id);
CREATE TABLE draw (
	sample_id INTEGER NOT NULL,
	relation_id INTEGER NOT NULL,
	system_id INTEGER NOT NULL,
	rank INTEGER NOT NULL,
	group_id BIGINT NOT NULL,
	pi FLOAT NOT NULL,
	PRIMARY KEY (sample_id, relation_id, system_id, rank),
	FOREIGN KEY(sample_id) REFERENCES sample (id),
	FOREIGN KEY(relation_id) REFERENCES relation (id),
	FOREIGN KEY(system_id) REFERENCES system (id)
);
CREATE INDEX ix_draw_group ON draw (group_id);
CREATE TABLE "group" (
	id BIGINT NOT NULL,
	study_id INTEGER NOT NULL,
	relation_id INTEGER NOT NULL,
	source_id INTEGER NOT NULL,
	system_id INTEGER,
	PRIMARY KEY (id),
	FOREIGN KEY(study_id) REFERENCES study (id),
	FOREIGN KEY(relation_id) REFERENCES relation (id),
	FOREIGN KEY(source_id) REFERENCES source (id),
	FOREIGN KEY(system_id) REFERENCES system (id)
);
CREATE TABLE judge_answer (
	question_id INTEGER NOT NULL,
	judge_id INTEGER NOT NULL,
	variant SMALLINT NOT NULL,
	attempt SMALLINT NOT NULL,
	answer VARCHAR,
	error VARCHAR,
	text VARCHAR,
	decided_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (question_id, judge_id, variant, attempt),
	FOREIGN KEY(question_id) REFERENCES question (id),
	FOREIGN KEY(judge_id) REFERENCES judge (id)
);
CREATE TABLE judgement (
	id SERIAL NOT NULL,
	question_id INTEGER NOT NULL,
	annotator_id INTEGER NOT NULL,
	round INTEGER NOT NULL,
	answer VARCHAR NOT NULL,
	comment VARCHAR,
	guideline INTEGER NOT NULL,
	shown_at TIMESTAMP WITH TIME ZONE,
	decided_at TIMESTAMP WITH TIME ZONE NOT NULL,
	supersedes INTEGER,
	saw INTEGER,
	client VARCHAR,
	withdrawn_by INTEGER,
	PRIMARY KEY (id),
	FOREIGN KEY(question_id) REFERENCES question (id),
	FOREIGN KEY(annotator_id) REFERENCES annotator (id),
	UNIQUE (supersedes),
	FOREIGN KEY(supersedes) REFERENCES judgement (id),
	FOREIGN KEY(saw) REFERENCES judgement (id),
	FOREIGN KEY(withdrawn_by) REFERENCES annotator (id)
);
CREATE INDEX ix_judgement_annotator ON judgement (annotator_id);
CREATE INDEX ix_judgement_question ON judgement (question_id);
CREATE TABLE known (
	question_id INTEGER NOT NULL,
	purpose VARCHAR NOT NULL,
	allowed JSON NOT NULL,
	explanation VARCHAR NOT NULL,
	annotator_id INTEGER,
	at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (question_id),
	FOREIGN KEY(question_id) REFERENCES question (id),
	FOREIGN KEY(annotator_id) REFERENCES annotator (id)
);
CREATE INDEX ix_known_purpose ON known (purpose);
CREATE TABLE lease (
	question_id INTEGER NOT NULL,
	annotator_id INTEGER NOT NULL,
	expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
	round INTEGER DEFAULT '1' NOT NULL,
	saw INTEGER,
	PRIMARY KEY (question_id, annotator_id),
	FOREIGN KEY(question_id) REFERENCES question (id),
	FOREIGN KEY(annotator_id) REFERENCES annotator (id)
);
CREATE INDEX ix_lease_annotator ON lease (annotator_id);
CREATE TABLE log (
	id SERIAL NOT NULL,
	annotator_id INTEGER,
	action VARCHAR NOT NULL,
	question_id INTEGER,
	detail JSON NOT NULL,
	at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(annotator_id) REFERENCES annotator (id),
	FOREIGN KEY(question_id) REFERENCES question (id)
);
CREATE TABLE spot_check (
	question_id INTEGER NOT NULL,
	priority INTEGER NOT NULL,
	PRIMARY KEY (question_id),
	FOREIGN KEY(question_id) REFERENCES question (id)
);
